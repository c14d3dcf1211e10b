package probes

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/netlab"
)

// selfSigned writes a certificate for an address, with its key.
func selfSigned(t *testing.T, dir string, at netip.Addr) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{at.AsSlice()}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// A real chronyd under NTS: every exchange is authentic, the store of cookies never
// runs dry, and interleaved mode is as exact as without; a certificate of somebody
// else is refused before anything is recorded.
func TestLabNTS(t *testing.T) {
	netlab.Need(t, "chronyd")
	lab := netlab.New(t)
	if withoutRaceDetector(t) {
		return
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o750); err != nil { // chronyd refuses a wider one
		t.Fatal(err)
	}
	cert, key := selfSigned(t, dir, lab.Server.Addr)
	conf := filepath.Join(dir, "chrony.conf")
	text := fmt.Sprintf("local stratum 3\nallow 10.77.0.0/24\ncmdport 0\nbindcmdaddress %[1]s/chronyd.sock\n"+
		"pidfile %[1]s/chronyd.pid\nntsservercert %s\nntsserverkey %s\nntsprocesses 1\n", dir, cert, key)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ended := lab.Server.Start(t, "chronyd", "-d", "-x", "-u", "root", "-f", conf)
	target := netip.AddrPortFrom(lab.Server.Addr, 123)
	waitForNTP(t, lab.Client, target, ended)
	plan := Plan{Count: 200, Interval: 2 * time.Millisecond, Listen: datasets.Some(300 * time.Millisecond)}
	for _, mode := range []string{"basic", "interleaved"} {
		tape := &ntpTape{}
		p := parseNTP(t, "ntp:nts=true,ca="+cert+",mode="+mode)
		if err := lab.Client.Do(func() error { return p.Run(t.Context(), target.String(), plan, tape) }); err != nil {
			t.Fatal(err)
		}
		var thetas []time.Duration
		for _, e := range tape.rows {
			if theta, ok := e.Offset(); ok && e.Outcome == datasets.Replied {
				thetas = append(thetas, theta.Abs())
			}
		}
		if len(thetas) == 0 {
			t.Fatalf("none is authentic: %s", lastWhy(tape.rows))
		}
		t.Logf("%s: %d of %d authentic, |θ| p50 %v; %s; trailer %v", mode, len(thetas), len(tape.rows), quantileOf(thetas, .5), tape.header.Text("nts"), tape.trailer)
		if len(thetas) < 199 || quantileOf(thetas, .5) > 20*time.Microsecond {
			t.Errorf("%s: %d of %d are authentic, |θ| p50 %v: %s", mode, len(thetas), len(tape.rows), quantileOf(thetas, .5), lastWhy(tape.rows))
		}
	}

	other, _ := selfSigned(t, t.TempDir(), lab.Server.Addr)
	tape := &ntpTape{}
	p := parseNTP(t, "ntp:nts=true,ca="+other)
	err := lab.Client.Do(func() error { return p.Run(t.Context(), target.String(), plan, tape) })
	if err == nil || !strings.Contains(err.Error(), "nts: handshake with 10.77.0.1:4460") || tape.header != nil {
		t.Errorf("another's certificate: %v", err)
	}
}
