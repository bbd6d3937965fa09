"""Output of eBPF tools: bpftrace maps whose keys are stacks, and bcc's stacks before folding."""
