"""Applications: front doors in the style of scikit-learn."""
