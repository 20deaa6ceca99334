//go:build unix

package nemesis

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"backwave/clockx"
	"backwave/internal/pgserver"
)

// ground is what a run stands on: a store, and the ways to it.
type ground struct {
	what   string // for people
	dsn    string // the direct way
	schema string
	server *pgserver.Server  // ours; nil if there is none
	ways   map[string]*proxy // to a PostgreSQL server, by the name of who goes it
	lock   *sql.DB           // of a SQLite file, to hold its lock
	end    []func()          // what is to be closed, in reverse
}

// makeGround starts what c asks for.
func makeGround(ctx context.Context, c *Config) (g *ground, err error) {
	g = &ground{ways: map[string]*proxy{}, schema: c.Schema}
	defer func() {
		if err != nil {
			g.close()
		}
	}()
	if c.Store == SQLite {
		g.dsn = filepath.Join(c.Dir, "jobs.db")
		g.what = "the SQLite file " + g.dsn
		if g.lock, err = fileOf(g.dsn); err != nil {
			return g, err
		}
		g.end = append(g.end, func() { _ = g.lock.Close() })
		_, err = g.lock.ExecContext(ctx, "create table effect (job text not null, attempt int not null)")
		return g, err
	}
	g.dsn, g.what = c.URL, "a server of yours"
	if c.URL == "" {
		bin, err := pgserver.Binaries("name a server by --postgres URL")
		if err != nil {
			return g, err
		}
		// Sessions of processes that were killed behind a partition stay for its time.
		if g.server, err = pgserver.Start(bin, "max_connections=600"); err != nil {
			return g, err
		}
		g.end = append(g.end, g.server.Close)
		g.dsn, g.what = g.server.URL(), "a throw-away server from "+bin
	}
	cfg, err := pgx.ParseConfig(g.dsn)
	if err != nil {
		return g, err
	}
	if cfg.TLSConfig != nil && !cfg.TLSConfig.InsecureSkipVerify {
		return g, errors.New("the server's address asks for sslmode=verify-full, and through our proxies the server has no name that could be verified: use verify-ca or require")
	}
	if err := migrate(ctx, g.dsn, g.schema); err != nil {
		return g, err
	}
	for i := range c.Workers {
		if err := g.way(cfg, nodeName(i)); err != nil {
			return g, err
		}
	}
	return g, g.way(cfg, client)
}

func (g *ground) way(cfg *pgx.ConnConfig, who string) error {
	p, err := newProxy(fmt.Sprintf("%s:%d", cfg.Host, cfg.Port))
	if err != nil {
		return err
	}
	g.ways[who] = p
	g.end = append(g.end, p.close)
	return nil
}

// dsnOf returns the address of the store for who.
func (g *ground) dsnOf(who string) (string, error) {
	p, ok := g.ways[who]
	if !ok {
		return g.dsn, nil
	}
	u, err := url.Parse(g.dsn)
	if err != nil {
		return "", err
	}
	u.Host = p.addr()
	return u.String(), nil
}

func (g *ground) close() {
	for i := len(g.end) - 1; i >= 0; i-- {
		g.end[i]()
	}
}

// weatherOf is what the faults of connections are to a proxy.
var weatherOf = map[Kind]weather{
	Cut: {refuse: true}, LoseCalls: {up: true}, LoseReply: {down: true}, Partition: {up: true, down: true},
}

// sufferWay does to connections what the fault says, and lasts as long.
func (g *ground) sufferWay(ctx context.Context, who string, f Fault) {
	p, w := g.ways[who], weatherOf[f.Kind]
	w.delay = f.Delay
	p.become(w)
	if w.refuse {
		p.reset()
	}
	_ = clockx.Sleep(ctx, clockx.Wall{}, f.For)
	if f.Reset {
		p.reset()
	}
	p.become(weather{})
}

// harm is how a fault of the server begins, and how it ends.
type harm struct{ begin, end func(context.Context) error }

func (g *ground) harms() map[Kind]harm {
	s := g.server
	start := func(context.Context) error { return s.Start() }
	return map[Kind]harm{
		RestartFast:      {func(context.Context) error { return s.Stop(true) }, start},
		RestartImmediate: {func(context.Context) error { return s.Stop(false) }, start},
		Crash:            {s.Crash, start},
		Stall:            {s.Freeze, func(context.Context) error { s.Thaw(); return nil }},
		ReadOnly: {
			func(ctx context.Context) error { return g.readOnly(ctx, true) },
			func(ctx context.Context) error { return g.readOnly(ctx, false) },
		},
	}
}

// sufferServer does to the server what the fault says, and lasts as long. At the
// end the server takes connections and writes.
func (g *ground) sufferServer(ctx context.Context, f Fault) error {
	own, h := context.WithoutCancel(ctx), g.harms()[f.Kind]
	err := h.begin(own)
	if err == nil {
		_ = clockx.Sleep(ctx, clockx.Wall{}, f.For)
	}
	return errors.Join(err, h.end(own))
}

// readOnly makes the server refuse writes, also to sessions that are there, or
// take them again.
func (g *ground) readOnly(ctx context.Context, on bool) error {
	cfg, err := pgx.ParseConfig(g.dsn)
	if err != nil {
		return err
	}
	cfg.RuntimeParams["default_transaction_read_only"] = "off"
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	change := "alter system reset default_transaction_read_only"
	if on {
		change = "alter system set default_transaction_read_only = on"
	}
	if _, err := conn.Exec(ctx, change); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "select pg_reload_conf()")
	return err
}

// sufferFile holds the write lock of the file for as long as the fault lasts.
func (g *ground) sufferFile(ctx context.Context, f Fault) error {
	own := context.WithoutCancel(ctx)
	conn, err := g.lock.Conn(own)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	held := false
	for n := 0; n < 20 && !held && ctx.Err() == nil; n++ { // somebody who is frozen may have it
		_, err := conn.ExecContext(own, "begin immediate")
		held = err == nil
	}
	if !held {
		return nil // he who had it did the harm in our place
	}
	_ = clockx.Sleep(ctx, clockx.Wall{}, f.For)
	_, err = conn.ExecContext(own, "rollback")
	return err
}
