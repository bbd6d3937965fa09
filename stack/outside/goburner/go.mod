module goburner

go 1.21
