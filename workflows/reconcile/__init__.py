"""Plan an incident from its newest facts and write the owed effects; retype with the plan shown first."""
