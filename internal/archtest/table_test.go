package archtest

// anything, in a row, allows every import.
const anything = "*"

// row says what one package may import beside the standard library.
type row struct {
	ours    []string // packages of this module, without the module's path
	modules []string // other modules
	std     []string // not nil: the only packages of the standard library
	tests   []string // what test files may import beyond the above and forTests
}

// forTests is what every test file may import, whatever its package.
var forTests = []string{
	"store/memory", // tests run on the executable reading of the contract, not on mocks
	"store/storetest",
	"pgregory.net/rapid",
	"github.com/cockroachdb/datadriven",
}

// table has a row for every package. Arrows point one way: nouns (store),
// what happened (history), the judge (checker), the engine, the world (sim),
// programs (cmd).
var table = map[string]row{
	"clockx": {modules: []string{"github.com/benbjohnson/clock"}},

	// The nouns talk to nothing; uuid is pure text and bits.
	"store":           {modules: []string{"github.com/google/uuid"}},
	"store/memory":    {ours: []string{"store", "store/rules"}},
	"store/postgres":  {ours: []string{"clockx", "store", "store/rules"}, modules: []string{"github.com/jackc/pgx/v5"}, tests: []string{"engine", "internal/pgtest"}},
	"store/rules":     {ours: []string{"store"}}, // pure decisions about one job, for every store
	"store/sqlite":    {ours: []string{"clockx", "store", "store/rules"}, modules: []string{"modernc.org/sqlite"}, tests: []string{"checker", "history"}},
	"store/storetest": {ours: []string{"store", "store/memory"}, modules: []string{"pgregory.net/rapid"}}, // it compares with memory

	// A judge must be able to judge a production history, and shares no code,
	// identity or clock with what it judges.
	"history": {ours: []string{"store"}},
	"checker": {ours: []string{"history", "store"}, modules: []string{"github.com/anishathalye/porcupine"}},

	// The pump is pure. Nothing under engine knows which store it has or that
	// it is simulated.
	"engine/pump": {
		ours: []string{"store"},
		std:  []string{"cmp", "encoding/binary", "errors", "fmt", "math", "slices", "strings", "time"},
	},
	"engine": {ours: []string{"clockx", "engine/pump", "store"}},
	// The kit for users' own tests brings a store and a clock to move.
	"engine/enginetest": {ours: []string{"clockx", "engine", "engine/pump", "store", "store/memory"}},

	"sim": {ours: []string{"checker", "clockx", "engine", "engine/pump", "history", "store", "store/memory"}},
	// sim defines a world as data; scenario reads files into that data.
	"sim/scenario": {
		ours:    []string{"engine", "engine/pump", "scenarios", "sim", "store"},
		modules: []string{"github.com/goccy/go-yaml"},
	},
	// Pages of runs and of recorded histories.
	"sim/timeline": {ours: []string{"checker", "engine/pump", "history", "sim", "store"}, tests: []string{"engine", "sim/scenario"}},
	"sim/mutants":  {ours: []string{"internal/mutant"}},
	// The production engine in virtual time, with all its goroutines: tests only.
	"sim/bubble": {tests: []string{"checker", "clockx", "engine", "engine/pump", "history", "scenarios", "sim", "sim/scenario", "store"}},
	// The kit for users' own handlers in the simulated world; rapid searches.
	"sim/simtest": {
		ours:    []string{"checker", "clockx", "engine", "engine/pump", "history", "sim", "sim/scenario", "sim/timeline", "store"},
		modules: []string{"pgregory.net/rapid"}, tests: []string{"scenarios"},
	},
	// Every state of a small world, of the pump and the store alone.
	"sim/explore": {ours: []string{"engine/pump", "store", "store/memory"}},
	// Plans are shrunk as data; whoever asks runs them.
	"sim/shrink": {ours: []string{"engine/pump", "sim", "sim/scenario", "store"}, tests: []string{"sim/finding"}},
	// The search knows no goroutine: its plans depend on its configuration alone.
	"sim/swarm": {ours: []string{"sim", "sim/finding"}, tests: []string{"checker"}},
	// Runs as something to walk through, and to change one thing of.
	"sim/travel": {ours: []string{"checker", "sim", "sim/scenario", "store"}},
	// What a run found, in words that do not depend on the run.
	"sim/finding": {ours: []string{"checker", "sim"}, tests: []string{"engine/pump", "store"}},
	"scenarios":   {},

	"cmd/bwsim":    {ours: []string{anything}, modules: []string{anything}},
	"cmd/bwworker": {ours: []string{anything}, modules: []string{anything}},

	"examples/payments": {ours: []string{"engine"}, tests: []string{"sim/simtest"}}, // what a user writes

	"internal/archtest":   {},
	"internal/healthtest": {modules: []string{"github.com/jackc/pgx/v5"}, tests: []string{"engine", "internal/pgtest", "store", "store/postgres"}}, // a real server, harmed
	"internal/pgserver":   {ours: []string{"clockx"}, modules: []string{"github.com/jackc/pgx/v5"}},
	"internal/pgtest":     {ours: []string{"clockx", "internal/pgserver"}, modules: []string{"github.com/jackc/pgx/v5"}},
	"internal/killtest":   {tests: []string{"internal/nemesis", "internal/pgtest"}}, // real processes
	"internal/mutant":     {},
	// Real processes on real stores, harmed and judged.
	"internal/nemesis": {
		ours:    []string{"checker", "clockx", "engine", "history", "internal/mutant", "internal/pgserver", "store", "store/postgres", "store/sqlite"},
		modules: []string{"github.com/jackc/pgx/v5"},
	},
}
