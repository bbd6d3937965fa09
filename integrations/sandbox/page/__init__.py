"""The page at `/`: one person's view of the workspace, rendered on the server and kept current by small modules."""
