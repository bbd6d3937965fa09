"""The domain: what an incident is, the verbs that change it, who may see it, and how it is worded."""
