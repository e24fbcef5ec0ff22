// Package tenantstest helps the tests of services that know tenants.
package tenantstest

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// Settings of one tenant: its record, brands and team.
type Settings = tenantsv1.GetTenantSettingsResponse

// Directory is a fake of the tenants service's directory for tests of other services: a gRPC server of settings, keys and webhook
// endpoints that a test sets, changes and lets fail.
type Directory struct {
	tenantsv1.UnimplementedDirectoryServiceServer

	// Client is connected to the directory, and Addr is where it listens.
	Client tenantsv1.DirectoryServiceClient
	Addr   string

	mu            sync.Mutex
	tenants       map[string]*Settings
	resolve       func(hash []byte) *commonv1.Principal
	subscriptions map[string][]*tenantsv1.EndpointSubscription
	endpoints     map[int32]*tenantsv1.Endpoint
	// endpointsVersion is the version of all tenants in ListEndpoints. It grows with every change of an endpoint.
	endpointsVersion int64
	changes          func(since string) *tenantsv1.ListChangesResponse
	calls            map[string]int
	failure          error
	onCall           func(ctx context.Context, req proto.Message) error
}

// NewDirectory serves a directory with these tenants until the test ends.
func NewDirectory(t testing.TB, tenants ...*Settings) *Directory {
	t.Helper()
	d := &Directory{
		tenants:          map[string]*Settings{},
		resolve:          func([]byte) *commonv1.Principal { return nil },
		subscriptions:    map[string][]*tenantsv1.EndpointSubscription{},
		endpoints:        map[int32]*tenantsv1.Endpoint{},
		endpointsVersion: 1,
		changes:          func(string) *tenantsv1.ListChangesResponse { return &tenantsv1.ListChangesResponse{Any: true} },
		calls:            map[string]int{},
	}
	for _, s := range tenants {
		d.SetTenant(s)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	tenantsv1.RegisterDirectoryServiceServer(server, d)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)

	d.Addr = listener.Addr().String()
	conn, err := rpc.Dial(rpc.Target{Addr: d.Addr}, telemetry.Discard())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	d.Client = tenantsv1.NewDirectoryServiceClient(conn)
	return d
}

// SetTenant adds a tenant or replaces its settings.
func (d *Directory) SetTenant(s *Settings) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tenants[s.GetTenant().GetId()] = proto.CloneOf(s)
}

// ChangeTenant changes the settings of a tenant and returns their new version, which is one higher.
func (d *Directory) ChangeTenant(id string, change func(s *Settings)) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := proto.CloneOf(d.tenants[id])
	s.Version++
	change(s)
	d.tenants[id] = s
	return s.GetVersion()
}

// SetKeys makes ResolveKey return what resolve returns for a hash: nil for a key that is unknown or revoked.
func (d *Directory) SetKeys(resolve func(hash []byte) *commonv1.Principal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.resolve = resolve
}

// Subscribe lets a key of the tenant receive events. SetEndpoint says where they go.
func (d *Directory) Subscribe(tenantID string, s *tenantsv1.EndpointSubscription) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s = proto.CloneOf(s)
	s.TenantId = tenantID
	d.endpointsVersion++
	d.subscriptions[tenantID] = append(d.subscriptions[tenantID], s)
}

// SetEndpoint says where the webhooks of a key go from now on. It does not subscribe the key.
func (d *Directory) SetEndpoint(e *tenantsv1.Endpoint) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.endpoints[e.GetKeyId()] = proto.CloneOf(e)
	d.endpointsVersion++
}

// EndpointsVersion is the version that ListEndpoints returns for every tenant. A tenant's settings have a version of their own.
func (d *Directory) EndpointsVersion() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.endpointsVersion
}

// SetChanges makes ListChanges return what changes returns. Without it, any tenant may have changed.
func (d *Directory) SetChanges(changes func(since string) *tenantsv1.ListChangesResponse) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changes = changes
}

// Fail makes every call fail with err from now on; with nil, calls succeed again. A failing call does not reach OnCall.
func (d *Directory) Fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failure = err
}

// OnCall runs call in every call of the directory from now on, after the answer is determined and before it is sent: a change that
// call makes is not in this answer. call may wait, and its error replaces the answer.
func (d *Directory) OnCall(call func(ctx context.Context, req proto.Message) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.onCall = call
}

// Calls counts the calls of a method, such as GetTenantSettings.
func (d *Directory) Calls(method string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls[method]
}

// GetTenantSettings implements DirectoryService.
func (d *Directory) GetTenantSettings(ctx context.Context, req *tenantsv1.GetTenantSettingsRequest) (*Settings, error) {
	return answer(ctx, d, req, "GetTenantSettings", func() (*Settings, error) {
		if s, ok := d.tenants[req.GetTenantId()]; ok {
			return s, nil
		}
		return nil, problem.RecordNotFound()
	})
}

// ResolveKey implements DirectoryService.
func (d *Directory) ResolveKey(ctx context.Context, req *tenantsv1.ResolveKeyRequest) (*tenantsv1.ResolveKeyResponse, error) {
	return answer(ctx, d, req, "ResolveKey", func() (*tenantsv1.ResolveKeyResponse, error) {
		if p := d.resolve(req.GetKeyHash()); p != nil {
			return &tenantsv1.ResolveKeyResponse{Principal: p}, nil
		}
		return nil, problem.RecordNotFound()
	})
}

// ListEndpoints implements DirectoryService.
func (d *Directory) ListEndpoints(
	ctx context.Context, req *tenantsv1.ListEndpointsRequest,
) (*tenantsv1.ListEndpointsResponse, error) {
	return answer(ctx, d, req, "ListEndpoints", func() (*tenantsv1.ListEndpointsResponse, error) {
		resp := &tenantsv1.ListEndpointsResponse{Versions: map[string]int64{}}
		for _, id := range req.GetTenantIds() {
			resp.Versions[id] = d.endpointsVersion
			for _, e := range d.subscriptions[id] {
				if at := d.endpoints[e.GetKeyId()]; at != nil && req.GetWithEndpoints() {
					e = proto.CloneOf(e)
					e.Endpoint = at
				}
				resp.Endpoints = append(resp.Endpoints, e)
			}
		}
		return resp, nil
	})
}

// ListChanges implements DirectoryService.
func (d *Directory) ListChanges(ctx context.Context, req *tenantsv1.ListChangesRequest) (*tenantsv1.ListChangesResponse, error) {
	return answer(ctx, d, req, "ListChanges", func() (*tenantsv1.ListChangesResponse, error) { return d.changes(req.GetSince()), nil })
}

// GetEndpoints implements DirectoryService.
func (d *Directory) GetEndpoints(ctx context.Context, req *tenantsv1.GetEndpointsRequest) (*tenantsv1.GetEndpointsResponse, error) {
	return answer(ctx, d, req, "GetEndpoints", func() (*tenantsv1.GetEndpointsResponse, error) {
		resp := &tenantsv1.GetEndpointsResponse{}
		for _, id := range req.GetKeyIds() {
			if e, ok := d.endpoints[id]; ok {
				resp.Endpoints = append(resp.Endpoints, e)
			}
		}
		return resp, nil
	})
}

// answer counts a call, reads its answer under the lock and then runs what OnCall has set.
func answer[R proto.Message](
	ctx context.Context, d *Directory, req proto.Message, method string, read func() (R, error),
) (resp R, err error) {
	d.mu.Lock()
	d.calls[method]++
	onCall := d.onCall
	if err = d.failure; err != nil {
		onCall = nil
	} else {
		resp, err = read()
	}
	d.mu.Unlock()
	if onCall != nil {
		if failed := onCall(ctx, req); failed != nil {
			err = failed
		}
	}
	if err != nil {
		// The service also tells clients not to retry.
		_ = grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", "-1"))
	}
	return resp, err
}
