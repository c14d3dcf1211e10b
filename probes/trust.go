package probes

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"os"
)

// trust says which server a TLS client believes.
type trust struct {
	ca       string // a file; "" for those of the system
	insecure bool
	name     string // what the server is called; "" for the host of the target
}

func bindTrust(fs *flag.FlagSet) *trust {
	var t trust
	fs.StringVar(&t.ca, "ca", "", "the `file` with the certificates to trust, in PEM form, instead of the system's")
	fs.BoolVar(&t.insecure, "insecure", false, "believe any certificate: `true` or false")
	fs.StringVar(&t.name, "name", "", "what the server is called, in TLS and requests, if not as the `host` of the target")
	return &t
}

// config is that of a client of a host.
func (t trust) config(host string) (*tls.Config, error) {
	if t.name != "" {
		host = t.name
	}
	c := &tls.Config{ServerName: host, InsecureSkipVerify: t.insecure}
	if t.ca == "" {
		return c, nil
	}
	var err error
	c.RootCAs, err = certificates(t.ca)
	return c, err
}

// certificates reads a file of them.
func certificates(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("ca %q: %w", file, errors.Unwrap(err))
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ca %q: holds no certificate in PEM form", file)
	}
	return pool, nil
}
