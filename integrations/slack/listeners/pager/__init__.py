"""Who is on call, and paging them."""
