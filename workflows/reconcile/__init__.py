"""Plan an incident from its newest facts and write down what is owed; retype with the plan shown first."""
