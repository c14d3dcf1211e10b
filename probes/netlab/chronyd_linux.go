package netlab

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Chronyd runs chronyd with these lines of configuration. It takes commands at Socket
// alone and never touches the clock (-x). DIR in a line is its folder.
func Chronyd(tb testing.TB, n Namespace, lines string) *Daemon {
	tb.Helper()
	Need(tb, "chronyd")
	d := newDaemon(tb)
	d.Socket = filepath.Join(d.Dir, "chronyd.sock")
	const own = "\nbindcmdaddress DIR/chronyd.sock\npidfile DIR/chronyd.pid\ndriftfile DIR/drift\n"
	if !strings.Contains(lines, "cmdport") {
		lines += "\ncmdport 0"
	}
	conf := d.write(tb, "chrony.conf", strings.ReplaceAll(lines+own, "DIR", d.Dir))
	d.Ended = n.Start(tb, "chronyd", "-d", "-x", "-u", "root", "-f", conf)
	chronyc := Need(tb, "chronyc")
	d.Await(tb, "chronyd", func() bool {
		_, err := n.Run(tb, chronyc, "-h", d.Socket, "tracking")
		return err == nil
	})
	return d
}

// SelfSigned makes a certificate for an address, to serve and to trust.
func SelfSigned(tb testing.TB, at netip.Addr) (cert, key string) {
	tb.Helper()
	d := newDaemon(tb)
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{at.AsSlice()}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		tb.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		tb.Fatal(err)
	}
	cert = d.write(tb, "cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	key = d.write(tb, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	return cert, key
}
