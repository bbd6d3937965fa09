"""What tools of eBPF print: maps of bpftrace whose keys are stacks, bcc's stacks before they are folded."""
