package store_test

import (
	"testing"
	"time"

	"backwave/store"
)

func TestValidateRefusesNoRequest(t *testing.T) {
	if err := store.Validate(nil); err == nil {
		t.Fatal("no request is a valid request")
	}
}

// The calls that an idle pump sends all day must not feed the collector.
func TestValidateAllocatesNothing(t *testing.T) {
	rows := make([]store.RenewRow, 20)
	for i := range rows {
		rows[i].Key.Claim = uint64(i)
	}
	terms := &store.Terms{ByName: []store.NamedPolicy{{Name: "a"}, {Name: "b", Policy: store.Policy{MaxAttempts: 3}}}}
	for _, req := range []store.Request{
		&store.Claim{Worker: "w", Number: 1, Queues: []store.Quota{{Queue: "a"}, {Queue: "b"}}, Max: 20, Lease: time.Minute, Terms: terms},
		&store.Renew{Worker: "w", Lease: time.Minute, Rows: rows},
		&store.Sweep{Queues: []string{"a", "b", "c"}, Max: 500},
	} {
		n := testing.AllocsPerRun(100, func() {
			if err := store.Validate(req); err != nil {
				t.Fatal(err)
			}
		})
		if n != 0 {
			t.Errorf("validating %T allocates %v times", req, n)
		}
	}
}
