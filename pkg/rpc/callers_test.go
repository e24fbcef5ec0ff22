package rpc

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/identity/identitytest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// contract is a service of the platform.
type contract struct {
	name    string
	public  bool // Integrators reach it over HTTP.
	methods []string
}

var (
	packageForm = regexp.MustCompile(`(?m)^package (\S+);`)
	serviceForm = regexp.MustCompile(`(?ms)^service (\w+) \{(.*?)^\}`)
	methodForm  = regexp.MustCompile(`(?m)^  rpc (\w+)\(`)
)

// contracts reads all services from their protocol files.
func contracts(t *testing.T) []contract {
	t.Helper()
	paths, err := filepath.Glob("../../proto/gifting/*/v1/*.proto")
	require.NoError(t, err)
	var found []contract
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		text := string(content)
		for _, service := range serviceForm.FindAllStringSubmatch(text, -1) {
			c := contract{
				name:   packageForm.FindStringSubmatch(text)[1] + "." + service[1],
				public: strings.Contains(service[2], "(google.api.http)"),
			}
			for _, method := range methodForm.FindAllStringSubmatch(service[2], -1) {
				c.methods = append(c.methods, method[1])
			}
			require.NotEmpty(t, c.methods, c.name)
			found = append(found, c)
		}
	}
	require.GreaterOrEqual(t, len(found), 20)
	return found
}

func callersOf(service string) []identity.Name {
	var names []identity.Name
	for name, may := range callers {
		if may.services[service] {
			names = append(names, name)
		}
	}
	return names
}

var people = []identity.Name{identity.Workspace, identity.Backoffice, identity.Operator}

func TestTheTableOfCallers(t *testing.T) {
	t.Parallel()
	known := map[string]bool{reflectionV1: true, reflectionV1Alpha: true}
	t.Run("has every service, on the right plane", func(t *testing.T) {
		for _, service := range contracts(t) {
			name := service.name
			known[name] = true
			may := callersOf(name)
			require.NotEmpty(t, may, "%s is in no row of the table: say who may call it", name)
			switch {
			case service.public:
				require.Equal(t, []identity.Name{identity.Gateway}, may, name)
			case isOperations(name):
				require.Subset(t, people, may, name)
			default:
				for _, person := range people {
					require.NotContains(t, may, person, name)
				}
			}
		}
	})
	t.Run("has no other service", func(t *testing.T) {
		for caller, may := range callers {
			for service := range may.services {
				require.True(t, known[service], "%s: %s does not exist", caller, service)
			}
		}
	})
	t.Run("has a row for everybody who has a name", func(t *testing.T) {
		require.ElementsMatch(t, identity.Names(), slices.Collect(maps.Keys(callers)))
	})
	t.Run("keeps sensitive services for the one program that needs them", func(t *testing.T) {
		for service, only := range map[string]identity.Name{
			"gifting.privacy.v1.PersonalDataService":       identity.Tenants,
			"gifting.privacy.v1.RecordEventsService":       identity.Tenants,
			"gifting.privacy.v1.TenantDataService":         identity.Tenants,
			"gifting.orders.v1.ClaimsService":              identity.PersonalLinks,
			"gifting.personallinks.v1.ClaimRecordsService": identity.Orders,
			"gifting.events.v1.FeedRecordsService":         identity.Orders,
			"gifting.events.v1.FeedEventsService":          identity.Webhook,
			"gifting.events.v1.FeedNoticesService":         identity.Gateway,
			"gifting.common.v1.IdempotencyRegisterService": identity.Gateway,
			"gifting.personallinks.v1.GiftSiteService":     identity.Gateway,
			"gifting.catalog.v1.ImportService":             identity.Operator,
		} {
			require.Equal(t, []identity.Name{only}, callersOf(service), service)
		}
	})
	t.Run("keeps the operator from records of persons, and the workspace from the catalog and off-boarding", func(t *testing.T) {
		for service := range callers[identity.Operator].services {
			require.NotRegexp(t, `gifting\.(orders|personallinks|events|privacy)\.|Privacy`, service)
		}
		for service := range callers[identity.Workspace].services {
			require.NotRegexp(t, `gifting\.catalog\.|Offboarding`, service)
		}
	})
	t.Run("lets only the gateway say for which key it acts, and only people's systems for which person", func(t *testing.T) {
		for caller, may := range callers {
			require.Equal(t, caller == identity.Gateway, may.sendsPrincipal, caller)
			require.Equal(t, slices.Contains(people, caller), len(may.actors) > 0, caller)
		}
	})
}

func isOperations(name string) bool {
	return strings.HasSuffix(name, "OperationsService") || strings.HasSuffix(name, ".ImportService") ||
		strings.HasSuffix(name, ".BrandLogosService")
}

// all serves every contract with empty responses and returns its address.
func all(t *testing.T, cfg identity.Config) string {
	t.Helper()
	server, err := NewServer(Config{TLS: cfg}, telemetry.Discard())
	require.NoError(t, err)
	for _, service := range contracts(t) {
		desc := grpc.ServiceDesc{ServiceName: service.name}
		for _, method := range service.methods {
			desc.Methods = append(desc.Methods, answering(service.name, method))
		}
		server.RegisterService(&desc, nil)
	}
	reflection.Register(server.Server)
	return serve(t, server)
}

func serve(t *testing.T, server *Server) (addr string) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

func answering(service, method string) grpc.MethodDesc {
	info := &grpc.UnaryServerInfo{FullMethod: "/" + service + "/" + method}
	handle := func(_ any, ctx context.Context, decode func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
		req := &emptypb.Empty{}
		if err := decode(req); err != nil {
			return nil, err
		}
		return intercept(ctx, req, info, func(context.Context, any) (any, error) { return &emptypb.Empty{}, nil })
	}
	return grpc.MethodDesc{MethodName: method, Handler: handle}
}

// connect makes a connection that shows the certificate and returns errors unchanged.
func connect(t *testing.T, addr string, cfg identity.Config) *grpc.ClientConn {
	t.Helper()
	files, err := identity.Open(cfg, time.Now, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(credentials.NewTLS(files.Client(identity.Orders))))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return conn
}

func TestEveryCallerReachesWhatTheTableSaysAndNothingElse(t *testing.T) {
	t.Parallel()
	signer := identitytest.New(t)
	addr := all(t, signer.Config(t, identity.Orders))
	for _, name := range append(slices.Sorted(maps.Keys(callers)), "stranger") {
		t.Run(string(name), func(t *testing.T) {
			conn := connect(t, addr, signer.Config(t, name))
			for _, service := range contracts(t) {
				for _, method := range service.methods {
					path := "/" + service.name + "/" + method
					err := conn.Invoke(t.Context(), path, &emptypb.Empty{}, &emptypb.Empty{})
					if callers[name].services[service.name] {
						require.NoError(t, err, path)
					} else {
						requireRefused(t, err, callerNotAllowed, name, service.name)
					}
				}
			}
			_, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
			require.NoError(t, err, "every caller may check health")
			err = reflect(t, conn)
			if slices.Contains(people, name) {
				require.NoError(t, err, "reflection")
			} else {
				requireRefused(t, err, callerNotAllowed, name, reflectionV1)
			}
		})
	}
}

func reflect(t *testing.T, conn *grpc.ClientConn) error {
	t.Helper()
	stream, err := reflectionpb.NewServerReflectionClient(conn).ServerReflectionInfo(t.Context())
	require.NoError(t, err)
	err = stream.Send(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}})
	if !errors.Is(err, io.EOF) { // Refused already: Recv says why.
		require.NoError(t, err)
	}
	_, err = stream.Recv()
	return err
}

func requireRefused(t *testing.T, err error, reason string, caller identity.Name, service string) {
	t.Helper()
	st := status.Convert(err)
	require.Equal(t, codes.PermissionDenied, st.Code(), "%s: %v", service, err)
	require.Len(t, st.Details(), 1)
	info, ok := st.Details()[0].(*errdetails.ErrorInfo)
	require.True(t, ok)
	require.Equal(t, reason, info.GetReason(), service)
	require.Equal(t, problem.Domain, info.GetDomain())
	require.Equal(t, map[string]string{"caller": string(caller), "service": service}, info.GetMetadata())
}
