// Package nemesis runs real worker processes on a real store, does them harm by
// a plan that one seed decides, and judges what came of it: processes are
// killed, frozen and shut down, their connections are cut, delayed and blocked
// one way, the server is restarted in every way it can be, and made read-only.
// Meanwhile jobs are enqueued, whose handlers write into the store's database,
// plainly and together with their success. At the end everything heals, and
// what can finish must.
//
// Run is the whole of it, Work the life of a worker process. Bugs lists bugs to
// be planted in the statements of the PostgreSQL store, which Run must find.
package nemesis
