package postgres_test

import (
	"context"
	"os"

	"github.com/jackc/pgx/v5"

	"backwave/engine"
	"backwave/store/postgres"
)

// Charge is the payload of a job.
type Charge struct {
	Account string
	Cents   int
}

// What a handler writes through InTx happens exactly once: together with the
// recorded success of its job, or not at all. It needs a server, so this
// example is compiled but not run; tx_test.go and internal/killtest run the
// same.
func ExampleStore_InTx() {
	ctx := context.Background()
	st, err := postgres.Open(ctx, postgres.Config{URL: os.Getenv("DATABASE_URL")})
	if err != nil {
		panic(err)
	}
	defer st.Close()
	if err := st.Migrate(ctx); err != nil {
		panic(err)
	}
	mux := engine.NewMux()
	engine.Handle(mux, "charge", func(ctx context.Context, job *engine.Job[Charge]) error {
		return st.InTx(ctx, job, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "update accounts set balance = balance - $1 where id = $2", job.Args.Cents, job.Args.Account)
			return err
		})
	})
	e, err := engine.New(engine.Config{
		Store:  st,
		Mux:    mux,
		Groups: []engine.Group{{Name: "default", Queues: engine.Strict("charges")}},
	})
	if err != nil {
		panic(err)
	}
	if err := e.Run(ctx); err != nil {
		panic(err)
	}
}
