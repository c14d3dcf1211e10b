package probes

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	health "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// grpcLink speaks gRPC over a connection that is there, and makes no other.
type grpcLink struct {
	client *grpc.ClientConn
	lost   atomic.Bool // gRPC asked for another connection
}

// newGRPCLink takes a connection over; state is that of TLS, nil if there is none.
func newGRPCLink(conn net.Conn, state *tls.ConnectionState, authority string) (*grpcLink, error) {
	l := &grpcLink{}
	var taken atomic.Bool
	dial := func(context.Context, string) (net.Conn, error) {
		if taken.Swap(true) {
			l.lost.Store(true)
			return nil, errUnsent
		}
		return conn, nil
	}
	trusted := insecure.NewCredentials()
	if state != nil {
		trusted = shaken{TransportCredentials: credentials.NewTLS(nil), state: *state}
	}
	var err error
	l.client, err = grpc.NewClient("passthrough:///tickmark",
		grpc.WithContextDialer(dial), grpc.WithTransportCredentials(trusted), grpc.WithAuthority(authority),
		grpc.WithNoProxy(), grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(), grpc.WithIdleTimeout(0),
		grpc.WithUserAgent("tickmark"), grpc.WithStatsHandler(marking{}),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(asItIs{}), grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("grpc: %w", err)
	}
	return l, nil
}

func (l *grpcLink) close() { _ = l.client.Close() }

// invoke makes a call. What no server of gRPC has answered is an error, whatever code
// the library finds for it.
func (l *grpcLink) invoke(ctx context.Context, method string, pairs []string, request []byte, m *marks) (a grpcAnswer, err error) {
	ctx, done := context.WithCancel(ctx)
	defer done()
	call := &grpcCall{marks: m}
	ctx = context.WithValue(metadata.AppendToOutgoingContext(ctx, pairs...), callKey{}, call)
	messages, err := l.exchange(ctx, method, request, &a.reply)
	s := status.Convert(err)
	a.code, a.text = int(s.Code()), s.Message()
	switch {
	case messages > 1 || err == nil && messages == 0:
		return a, fmt.Errorf("an answer of %d messages: want 1", messages)
	case call.ended.Load():
		return a, nil
	case s.Code() == codes.DeadlineExceeded:
		return a, context.DeadlineExceeded
	case l.lost.Load() && !m.answering():
		return a, errUnsent
	}
	return a, errors.New(a.text)
}

// exchange sends a message and reads all that come back, of which it keeps the first: the
// library's own unary call has a code of its own for another number of them than one,
// which looks like a server's.
func (l *grpcLink) exchange(ctx context.Context, method string, request []byte, reply *[]byte) (messages int, err error) {
	stream, err := l.client.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method)
	if err != nil {
		return 0, err
	}
	if err := stream.SendMsg(&request); err != nil && !errors.Is(err, io.EOF) { // which RecvMsg explains
		return 0, err
	}
	if err := stream.CloseSend(); err != nil {
		return 0, err
	}
	for into := reply; ; into = new([]byte) {
		switch err := stream.RecvMsg(into); {
		case errors.Is(err, io.EOF):
			return messages, nil
		case err != nil:
			return messages, err
		}
		if messages++; messages > 1 {
			return messages, nil
		}
	}
}

// grpcCall is what its own connection tells of a call.
type grpcCall struct {
	*marks
	ended atomic.Bool // by a server of gRPC: its trailers have come
}

type callKey struct{}

// marking tells calls what happens to them.
type marking struct{}

// TagRPC returns the context as it is.
func (marking) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC marks.
func (marking) HandleRPC(ctx context.Context, event stats.RPCStats) {
	call, ok := ctx.Value(callKey{}).(*grpcCall)
	if !ok {
		return
	}
	switch event.(type) {
	case *stats.OutPayload: // has been handed to the connection
		call.mark(&call.wrote)
	case *stats.InHeader:
		call.mark(&call.first)
	case *stats.InTrailer:
		call.mark(&call.first)
		call.ended.Store(true)
	}
}

// TagConn returns the context as it is.
func (marking) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn does nothing.
func (marking) HandleConn(context.Context, stats.ConnStats) {}

// shaken are credentials for a connection that has shaken hands by TLS before.
type shaken struct {
	credentials.TransportCredentials
	state tls.ConnectionState
}

// ClientHandshake says what was agreed on.
func (s shaken) ClientHandshake(_ context.Context, _ string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return conn, credentials.TLSInfo{
		State:          s.state,
		CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity},
	}, nil
}

// Clone returns a copy.
func (s shaken) Clone() credentials.TransportCredentials { return s }

// asItIs is a codec that sends and receives bytes.
type asItIs struct{}

// Name is that of protobuf, whose messages the bytes are.
func (asItIs) Name() string { return "proto" }

// Marshal returns the bytes that v points to.
func (asItIs) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

// Unmarshal has v point to a copy of data, which is not nil.
func (asItIs) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte{}, data...)
	return nil
}

// healthRequest asks for the health of a service, or of the server as "".
func healthRequest(service string) []byte {
	b, err := proto.Marshal(&health.HealthCheckRequest{Service: service})
	if err != nil {
		return nil // not UTF-8: refused when the probe is bound
	}
	return b
}

// servingOf reads the answer to a health check.
func servingOf(reply []byte) (string, error) {
	var m health.HealthCheckResponse
	if err := proto.Unmarshal(reply, &m); err != nil {
		return "", fmt.Errorf("not an answer to a health check: %w", err)
	}
	return m.Status.String(), nil
}
