"""`docs`: the documentation site, built strictly from the Markdown files and checked for dead links."""
