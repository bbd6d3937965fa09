"""Brings up all processes of a stack, drives them and ends them; throwaway stacks start from what is prepared."""
