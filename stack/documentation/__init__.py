"""`docs`: the documentation site, built strictly from the Markdown files and looked through for dead links."""
