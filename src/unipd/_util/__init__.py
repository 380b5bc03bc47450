"""Small tools that every layer uses: input checks, run context, files, printing, BLAS, threads."""
