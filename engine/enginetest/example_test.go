package enginetest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"backwave/engine"
	"backwave/engine/enginetest"
)

type Order struct{ Number int }

// shop is the code under test: an order is charged, and then confirmed.
func shop(client func() *engine.Client, charge func() error) *engine.Mux {
	mux := engine.NewMux()
	engine.Handle(mux, "charge", func(ctx context.Context, job *engine.Job[Order]) error {
		if err := charge(); err != nil {
			return err
		}
		_, err := client().Enqueue(ctx, "confirm", job.Args, engine.In(time.Hour))
		return err
	})
	engine.Handle(mux, "confirm", func(context.Context, *engine.Job[Order]) error { return nil })
	return mux
}

// In a test, t is the *testing.T.
func Example() {
	t := &testing.T{}
	var kit *enginetest.Kit
	bank := errors.New("the bank is closed")
	mux := shop(func() *engine.Client { return kit.Client() }, func() error { return bank })
	kit = enginetest.New(t, enginetest.Config{Mux: mux})

	if _, err := kit.Client().Enqueue(context.Background(), "charge", Order{7}); err != nil {
		fmt.Println(err)
	}
	show := func(runs []enginetest.Run) {
		fmt.Print(kit.Now().Format("15:04:05"))
		for _, r := range runs {
			fmt.Printf(" %s#%d: %v", r.Name, r.Attempt, r.End)
			if r.Error != "" {
				fmt.Printf(" (%s)", r.Error)
			}
		}
		fmt.Println()
	}
	show(kit.RunDue())
	bank = nil
	kit.Advance(3 * time.Second) // the retry is due after 2 s ± 10 %
	show(kit.RunDue())
	fmt.Println("to be confirmed:", enginetest.Enqueued[Order](kit, "default", "confirm"))
	kit.Advance(time.Hour)
	show(kit.RunDue())

	// Output:
	// 00:00:00 charge#1: failure (the bank is closed)
	// 00:00:03 charge#2: success
	// to be confirmed: [{7}]
	// 01:00:03 confirm#1: success
}
