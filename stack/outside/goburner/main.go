// Goburner is a program that is wrong on purpose, in functions that a profile must name: hashOrders burns the
// processor, buildReceipts allocates and keeps, waitForLedger waits for a lock. Its profiles are at /debug/pprof/.
// It ends when its standard input does, so that it does not outlive who started it.
// GET /fix stops the burning, GET /break starts it again, so that a second profile can be compared with the first.
package main

import (
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

var (
	broken atomic.Bool
	ledger sync.Mutex
	kept   [][]byte
	total  uint64
)

//go:noinline
func hashOrders(rounds int) uint64 {
	sum := uint64(14695981039346656037)
	for i := 0; i < rounds; i++ {
		sum = (sum ^ uint64(i&255)) * 1099511628211
	}
	return sum
}

//go:noinline
func priceOrders(rounds int) uint64 {
	price := uint64(1)
	for i := 0; i < rounds; i++ {
		price = (price ^ uint64(i&63)) * 1099511628211
	}
	return price
}

//go:noinline
func buildReceipts() {
	ledger.Lock()
	defer ledger.Unlock()
	kept = append(kept, make([]byte, 64<<10))
	if len(kept) > 400 {
		kept = kept[200:]
	}
	time.Sleep(2 * time.Millisecond)
}

//go:noinline
func waitForLedger() {
	ledger.Lock()
	time.Sleep(time.Millisecond)
	ledger.Unlock()
}

// Of each round a part goes to prices and, while broken, three such parts to hashes; then half of the time is idle,
// so that whoever runs this keeps a processor for other work. Rounds differ in size, or else a profiler that looks
// every ten milliseconds would fall into step with them.
func checkout() {
	for {
		began := time.Now()
		part := 200_000 + rand.Intn(600_000)
		total += priceOrders(part)
		if broken.Load() {
			total += hashOrders(3 * part)
		}
		time.Sleep(time.Since(began))
	}
}

func repeat(work func()) {
	for {
		work()
	}
}

func set(to bool) http.HandlerFunc {
	return func(answer http.ResponseWriter, _ *http.Request) {
		broken.Store(to)
		fmt.Fprintln(answer, to)
	}
}

func endWithInput() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func main() {
	go endWithInput()
	broken.Store(true)
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1)
	http.HandleFunc("/fix", set(false))
	http.HandleFunc("/break", set(true))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	go checkout()
	go repeat(buildReceipts)
	go repeat(waitForLedger)
	fmt.Fprintln(os.Stderr, http.Serve(listener, nil))
}
