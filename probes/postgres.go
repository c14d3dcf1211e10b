package probes

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tickmark/tickmark/datasets"
)

// postgres measures how long a PostgreSQL server takes to let somebody in, each call a
// connection from its first packet until a query may be sent, or to answer a query on a
// connection that is kept.
type postgres struct {
	callProbe
	user, database, password, tls string // the password is a file
	query                         string // "" if calls connect
}

const postgresPort = 5432

func bindPostgres(fs *flag.FlagSet) func() (Probe, error) {
	calls := bindCalls(fs)
	mode := fs.String("mode", "query", "what a call is: `query` on a connection that is kept, or connect")
	query := fs.String("query", "select 1", "the `SQL` of a query")
	user := fs.String("user", "postgres", "the `role` to connect as")
	database := fs.String("database", "postgres", "the `database` to connect to")
	password := fs.String("password", "", "the `file` with the password; without one it is what PGPASSWORD or ~/.pgpass says, if anything")
	tls := fs.String("sslmode", "disable", "as libpq has it: `disable`, require, verify-ca or verify-full")
	return func() (Probe, error) {
		c, err := calls()
		if err != nil {
			return nil, err
		}
		p := postgres{callProbe: c, user: *user, database: *database, password: *password, tls: *tls}
		p.protocol, p.columns = "postgres", lineColumns()
		switch *mode {
		case "query":
			p.query = *query
		case "connect":
			p.interval = 100 * time.Millisecond
		default:
			return nil, fmt.Errorf("mode %q: want query or connect", *mode)
		}
		if p.query == "" && *mode == "query" {
			return nil, fmt.Errorf("query %q: want some SQL", *query)
		}
		switch p.tls {
		case "disable", "require", "verify-ca", "verify-full":
		default:
			return nil, fmt.Errorf("sslmode %q: want disable, require, verify-ca or verify-full", p.tls)
		}
		return p, nil
	}
}

// Kind returns RTT.
func (postgres) Kind() datasets.Kind { return datasets.RTT }

// TakesTarget is true: the target is host or host:port, the port 5432 if not said.
func (postgres) TakesTarget() bool { return true }

// Run calls as the plan's schedule says, every 10 ms by default, every 100 ms if a call
// connects, and listens 2 s.
func (p postgres) Run(ctx context.Context, target string, plan Plan, rec Recorder) error {
	remote, err := remoteOf(ctx, target, postgresPort, "ip", 0)
	if err != nil {
		return err
	}
	config, err := p.config(target, remote)
	if err != nil {
		return err
	}
	p.open = func() (caller, error) { return newPostgresCaller(config, remote, p.query), nil }
	return p.run(ctx, target, remote.String(), plan, rec)
}

// config is what pgconn needs to know. It is told everything that a variable of the
// environment could say otherwise, but for those that hold what is secret or certifies.
func (p postgres) config(target string, remote netip.AddrPort) (*pgconn.Config, error) {
	host, _, err := splitTarget(target, postgresPort)
	if err != nil {
		return nil, err
	}
	quote := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	var text strings.Builder
	for _, s := range []struct{ key, value string }{
		{"host", host},
		{"port", strconv.Itoa(int(remote.Port()))},
		{"user", p.user},
		{"database", p.database},
		{"sslmode", p.tls},
		{"application_name", "tickmark"},
		{"target_session_attrs", "any"},
		{"connect_timeout", "0"},
	} {
		fmt.Fprintf(&text, "%s='%s' ", s.key, quote.Replace(s.value))
	}
	config, err := pgconn.ParseConfig(text.String())
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	if p.password != "" {
		if config.Password, err = secret("postgres", p.password, ""); err != nil {
			return nil, err
		}
	}
	const longestMessage = 1 << 20
	config.MaxProtocolMessageBodyLen = longestMessage
	// What the target resolved to stands in the header: it is not looked up again.
	config.LookupFunc = func(context.Context, string) ([]string, error) { return []string{remote.Addr().String()}, nil }
	config.Fallbacks = nil
	return config, nil
}

// sentConn counts what is sent.
type sentConn struct {
	*net.TCPConn
	sent atomic.Int64 // what was given up says goodbye while others look
}

// Write sends and counts.
func (c *sentConn) Write(b []byte) (int, error) {
	n, err := c.TCPConn.Write(b)
	c.sent.Add(int64(n))
	return n, err
}
