package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/partnergifting/platform/deploy/bootstrap"
	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/identity"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// Conn calls a service of the stack, each call with the certificate of a caller that may make it: the backoffice or the workspace
// for operations, depending on the request's actor; the operator for imports; the webhook service for endpoints; the gateway for
// all others. Its errors are gRPC status errors.
type Conn struct {
	service      identity.Name
	addr         string
	certificates certificates

	lock  sync.Mutex
	conns map[identity.Name]*grpc.ClientConn
}

// Dial makes a Conn for a service. env is the content of demo.env, and variable the one in it that has the service's address.
func Dial(env map[string]string, variable string) (*Conn, error) {
	for _, p := range programs.All() {
		if variable == grpcVariable(p) || strings.HasPrefix(variable, grpcVariable(p)+"_") {
			return certificates{bootstrap.Certificates{Dir: filepath.Dir(env[caVariable])}}.dial(p.Name, env[variable]), nil
		}
	}
	return nil, fmt.Errorf("%w: %s", errVariable, variable)
}

var errVariable = errors.New("not the variable of a service")

func (c certificates) dial(service identity.Name, addr string) *Conn {
	return &Conn{service: service, addr: addr, certificates: c, conns: map[identity.Name]*grpc.ClientConn{}}
}

// Invoke implements grpc.ClientConnInterface.
func (c *Conn) Invoke(ctx context.Context, method string, req, resp any, opts ...grpc.CallOption) error {
	conn, err := c.As(callerOf(method, req))
	if err != nil {
		return err
	}
	return conn.Invoke(ctx, method, req, resp, opts...)
}

// NewStream implements grpc.ClientConnInterface.
func (c *Conn) NewStream(
	ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	conn, err := c.As(callerOf(method, nil))
	if err != nil {
		return nil, err
	}
	return conn.NewStream(ctx, desc, method, opts...)
}

// As returns the connection of one caller. Close closes it with the others.
func (c *Conn) As(caller identity.Name) (*grpc.ClientConn, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if conn, ok := c.conns[caller]; ok {
		return conn, nil
	}
	ownIdentity, err := identity.Open(c.certificates.Of(caller), time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient(c.addr, grpc.WithTransportCredentials(credentials.NewTLS(ownIdentity.Client(c.service))))
	if err != nil {
		return nil, err
	}
	c.conns[caller] = conn
	return conn, nil
}

// Close closes the connections of all callers.
func (c *Conn) Close() error {
	c.lock.Lock()
	defer c.lock.Unlock()
	var errs []error
	for _, conn := range c.conns {
		errs = append(errs, conn.Close())
	}
	return errors.Join(errs...)
}

func callerOf(method string, req any) identity.Name {
	service, _, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	switch {
	case strings.HasSuffix(service, ".ImportService"):
		return identity.Operator
	case strings.HasSuffix(service, "OperationsService"), strings.HasSuffix(service, ".BrandLogosService"):
		return systemOf(req)
	case strings.HasSuffix(method, "/GetEndpoints"):
		return identity.Webhook
	default:
		return identity.Gateway
	}
}

// systemOf returns the system in which the actor of a request works: the workspace for a tenant's people and clients, otherwise the
// backoffice.
func systemOf(req any) identity.Name {
	acting, ok := req.(interface{ GetActor() *commonv1.Actor })
	if !ok {
		return identity.Backoffice
	}
	switch acting.GetActor().GetKind() {
	case commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT:
		return identity.Workspace
	default:
		return identity.Backoffice
	}
}
