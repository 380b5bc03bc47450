"""Small tools that every layer uses: input checks, vectors, run context, files, printing, threads."""
