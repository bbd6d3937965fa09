"""Bring up all processes of a stack, drive them and end them; throwaway stacks start from what is prepared."""
