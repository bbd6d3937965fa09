"""Who people are, how they sign in here, and what their role lets them do."""
