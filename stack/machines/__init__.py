"""`make machines`: Firekind on several machines with real servers, some of which fail, judged like a chaos run."""
