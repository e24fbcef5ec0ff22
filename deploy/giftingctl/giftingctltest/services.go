// Package giftingctltest has services that answer every call of the contract as a test wants, for callers with certificates.
package giftingctltest

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/identity/identitytest"
)

// Tenant is the tenant of the context.
const Tenant = "5f0c3a2e-7d15-4a63-9d0e-0f3b8c1f2a77"

// Answer returns the response of a call. A nil response is the empty one. With an error, a response is sent before a stream fails.
type Answer func(method string, req proto.Message) (proto.Message, error)

// Services are servers of all services, and a folder with a context for them.
type Services struct {
	// Config is the file of contexts, with certificate, key and ca beside it.
	Config    string
	Authority identitytest.Authority

	answer  Answer
	lock    sync.Mutex
	calls   []string
	servers []*grpc.Server
}

// Start starts the services. A nil answer is the empty response to each call.
func Start(t testing.TB, answer Answer) *Services {
	t.Helper()
	return start(t, &Services{Authority: identitytest.New(t), answer: answer})
}

// StartBeside starts further services with the same authority, such as those of another cell, with the empty response to each call.
func StartBeside(t testing.TB, other *Services) *Services {
	t.Helper()
	return start(t, &Services{Authority: other.Authority})
}

func start(t testing.TB, s *Services) *Services {
	t.Helper()
	dir := t.TempDir()
	s.Authority.Files(t, dir, identitytest.Request(identity.Operator))
	var addresses []string
	for _, name := range identity.Programs() {
		addresses = append(addresses, fmt.Sprintf("%s: %q", name, s.serve(t, name)))
	}
	s.Config = filepath.Join(dir, "giftingctl.yaml")
	content := "current: test\ncontexts:\n  test:\n    addresses: {" + strings.Join(addresses, ", ") + "}\n" +
		"    ca: ca.crt\n    certificate: tls.crt\n    key: tls.key\n    actor: {kind: system}\n    tenant: " + Tenant + "\n"
	require.NoError(t, os.WriteFile(s.Config, []byte(content), 0o600))
	return s
}

// Calls are the methods that were called so far.
func (s *Services) Calls() []string {
	s.lock.Lock()
	defer s.lock.Unlock()
	return append([]string(nil), s.calls...)
}

// Stop stops the services before the end of the test.
func (s *Services) Stop() {
	for _, server := range s.servers {
		server.Stop()
	}
}

func (s *Services) serve(t testing.TB, name identity.Name) string {
	t.Helper()
	files, err := identity.Open(s.Authority.Config(t, name), time.Now, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	const maxMessage = 64 << 20
	server := grpc.NewServer(grpc.Creds(credentials.NewTLS(files.Server())), grpc.UnknownServiceHandler(s.handle),
		grpc.MaxRecvMsgSize(maxMessage))
	go func() { _ = server.Serve(listener) }() // Stop ends it.
	t.Cleanup(server.Stop)
	s.servers = append(s.servers, server)
	return listener.Addr().String()
}

func (s *Services) handle(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(strings.ReplaceAll(method[1:], "/", ".")))
	if err != nil {
		return err
	}
	of, ok := found.(protoreflect.MethodDescriptor)
	if !ok {
		return fmt.Errorf("%s is no method", method) // Only a test sees it.
	}
	req, err := message(of.Input())
	if err != nil {
		return err
	}
	if err := stream.RecvMsg(req); err != nil {
		return err
	}
	s.lock.Lock()
	s.calls = append(s.calls, method)
	s.lock.Unlock()
	resp, err := message(of.Output())
	if err != nil {
		return err
	}
	if s.answer != nil {
		answer, err := s.answer(method, req)
		if err != nil {
			if answer != nil {
				_ = stream.SendMsg(answer) // A caller that has left does not see the error either.
			}
			return err
		}
		if answer != nil {
			resp = answer
		}
	}
	return stream.SendMsg(resp)
}

func message(of protoreflect.MessageDescriptor) (proto.Message, error) {
	found, err := protoregistry.GlobalTypes.FindMessageByName(of.FullName())
	if err != nil {
		return nil, err
	}
	return found.New().Interface(), nil
}
