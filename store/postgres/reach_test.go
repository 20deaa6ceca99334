package postgres

import (
	"slices"
	"testing"
)

func TestReachesLieApart(t *testing.T) {
	at := func(queue string, qid int32, lo, hi int64) reach {
		return reach{queue, qid, place{lo, 1}, place{hi, 9}}
	}
	given := reaches{
		at("z", 3, 0, 5),
		at("a", 1, 10, 20), at("b", 2, 10, 20),
		at("a", 1, 15, 30), at("a", 1, 12, 14), // overlap, lie within
		at("a", 1, 31, 40), // apart by one
		at("b", 2, 20, 25), // begins within the last instant
	}
	wanted := reaches{
		at("b", 2, 10, 25), at("a", 1, 10, 30), at("a", 1, 31, 40), // as listed
		at("z", 3, 0, 5), // others
	}
	if got := given.apart([]string{"b", "a"}); !slices.Equal(got, wanted) {
		t.Errorf("got  %v\nwant %v", got, wanted)
	}
}
