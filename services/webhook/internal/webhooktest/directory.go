// Package webhooktest gives tests the two parties around webhook delivery: a directory of endpoints
// served over gRPC, and a receiver that checks what arrives.
package webhooktest

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// Directory is a DirectoryService with what a test puts into it.
type Directory struct {
	tenantsv1.UnimplementedDirectoryServiceServer
	// Client is connected to the directory.
	Client tenantsv1.DirectoryServiceClient
	// Addr is where it listens.
	Addr string

	guard         sync.Mutex
	onList        func(tenantIDs []string)
	onLookup      func()
	down          bool
	subscriptions map[string][]*tenantsv1.EndpointSubscription
	endpoints     map[int32]*tenantsv1.Endpoint
}

// NewDirectory serves an empty directory until the test ends.
func NewDirectory(t testing.TB) *Directory {
	t.Helper()
	d := &Directory{
		subscriptions: map[string][]*tenantsv1.EndpointSubscription{},
		endpoints:     map[int32]*tenantsv1.Endpoint{},
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

// Subscribe adds an endpoint, which becomes the tenant's, to what its events go to.
func (d *Directory) Subscribe(tenantID string, s *tenantsv1.EndpointSubscription) {
	d.guard.Lock()
	defer d.guard.Unlock()
	s.TenantId = tenantID
	d.subscriptions[tenantID] = append(d.subscriptions[tenantID], s)
}

// Set says where an endpoint's deliveries go from now on.
func (d *Directory) Set(e *tenantsv1.Endpoint) {
	d.guard.Lock()
	defer d.guard.Unlock()
	d.endpoints[e.GetKeyId()] = e
}

// SetActive makes the receiver the endpoint of a key.
func (d *Directory) SetActive(keyID int32, r *Receiver) {
	d.Set(&tenantsv1.Endpoint{
		KeyId: keyID, State: tenantsv1.EndpointState_ENDPOINT_STATE_ACTIVE, Url: r.URL, Secret: r.Secret(),
	})
}

// SetDown makes every call fail as if the service could not be reached, or ends that.
func (d *Directory) SetDown(down bool) {
	d.guard.Lock()
	defer d.guard.Unlock()
	d.down = down
}

// OnLookup is called at the beginning of every GetEndpoints from now on.
func (d *Directory) OnLookup(call func()) {
	d.guard.Lock()
	defer d.guard.Unlock()
	d.onLookup = call
}

// OnList is called from now on with what every ListEndpoints asks for, after it has read the answer. The call ends when
// it returns; others go on meanwhile.
func (d *Directory) OnList(call func(tenantIDs []string)) {
	d.guard.Lock()
	defer d.guard.Unlock()
	d.onList = call
}

// ListEndpoints implements DirectoryService.
func (d *Directory) ListEndpoints(_ context.Context, req *tenantsv1.ListEndpointsRequest) (*tenantsv1.ListEndpointsResponse, error) {
	resp, onList, err := d.list(req.GetTenantIds())
	if onList != nil {
		onList(req.GetTenantIds())
	}
	return resp, err
}

func (d *Directory) list(tenantIDs []string) (*tenantsv1.ListEndpointsResponse, func([]string), error) {
	d.guard.Lock()
	defer d.guard.Unlock()
	if d.down {
		return nil, nil, status.Error(codes.Unavailable, "down")
	}
	resp := &tenantsv1.ListEndpointsResponse{}
	for _, id := range tenantIDs {
		resp.Endpoints = append(resp.Endpoints, d.subscriptions[id]...)
	}
	return resp, d.onList, nil
}

// GetEndpoints implements DirectoryService.
func (d *Directory) GetEndpoints(_ context.Context, req *tenantsv1.GetEndpointsRequest) (*tenantsv1.GetEndpointsResponse, error) {
	d.guard.Lock()
	defer d.guard.Unlock()
	if d.down {
		return nil, status.Error(codes.Unavailable, "down")
	}
	if d.onLookup != nil {
		d.onLookup()
	}
	resp := &tenantsv1.GetEndpointsResponse{}
	for _, id := range req.GetKeyIds() {
		if e, ok := d.endpoints[id]; ok {
			resp.Endpoints = append(resp.Endpoints, e)
		}
	}
	return resp, nil
}
