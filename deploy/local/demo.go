package local

import (
	"context"
	"fmt"
	"path/filepath"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/pkg/apikey"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// demoKey is an API key of the demo. The platform stores only its hash, so demo.json keeps the key.
type demoKey struct {
	ID  int32  `json:"id"`
	Key string `json:"key"`
}

// The keys of the demo.
const (
	keyMain     = "main"
	keyApproval = "approval"
	keyCatalog  = "catalog"
)

// demoKeyRequests returns the request for each key. None has a webhook URL yet: a key that was lost in a crash must not receive
// webhooks.
func demoKeyRequests() map[string]*tenantsv1.CreateKeyRequest {
	all := []commonv1.Scope{
		commonv1.Scope_SCOPE_CATALOG, commonv1.Scope_SCOPE_ORDERS, commonv1.Scope_SCOPE_PERSONAL_LINKS,
	}
	catalog := []commonv1.Scope{commonv1.Scope_SCOPE_CATALOG}
	return map[string]*tenantsv1.CreateKeyRequest{
		keyMain:     {Actor: seed.Installer, TenantId: seed.Direct, Name: "Loyalty system", Scopes: all, AllBrands: true},
		keyApproval: {Actor: seed.Installer, TenantId: seed.Approving, Name: "CRM", Scopes: all, AllBrands: true},
		keyCatalog:  {Actor: seed.Installer, TenantId: seed.Direct, Name: "Gift shop preview", Scopes: catalog, AllBrands: true},
	}
}

// demo is the content of demo.json.
type demo struct {
	// Digest is the digest of the demo that was last written to the databases.
	Digest string             `json:"digest"`
	Keys   map[string]demoKey `json:"keys"`
	// secret signs the webhooks of the main key.
	secret string
}

// prepareDemo writes the demo to the databases if it has changed or a key is missing. It creates the missing keys and sets the
// inbox as the webhook URL of the main key.
func (c Config) prepareDemo(ctx context.Context, tenants, catalog grpc.ClientConnInterface) (demo, error) {
	path := filepath.Join(c.Dir, "demo.json")
	d := demo{Keys: map[string]demoKey{}}
	if err := readJSON(path, &d); err != nil {
		return d, err
	}
	missing, err := d.missing(ctx, tenants)
	if err != nil {
		return d, err
	}
	digest, err := seed.Digest()
	if err != nil {
		return d, err
	}
	if d.Digest != digest || len(missing) > 0 {
		if err := seed.PutDemo(ctx, tenants, catalog, c.FewPictures); err != nil {
			return d, err
		}
		d.Digest = digest
	}
	if err := d.makeKeys(ctx, tenants, missing); err != nil {
		return d, err
	}
	if err := writeJSON(path, d); err != nil {
		return d, err
	}
	_, err = tenantsv1.NewTenantOperationsServiceClient(tenants).SetWebhookUrl(ctx, &tenantsv1.SetWebhookUrlRequest{
		Actor: seed.Installer, TenantId: seed.Direct, KeyId: d.Keys[keyMain].ID, Url: proto.String(c.inboxURL() + "/webhooks"),
	})
	if err != nil {
		return d, fmt.Errorf("set the webhook URL of the demo: %w", err)
	}
	// The secret is read, because the key may have rotated it.
	answer, err := tenantsv1.NewDirectoryServiceClient(tenants).GetEndpoints(ctx,
		&tenantsv1.GetEndpointsRequest{KeyIds: []int32{d.Keys[keyMain].ID}})
	if err != nil {
		return d, fmt.Errorf("read the signing secret of the demo: %w", err)
	}
	for _, endpoint := range answer.GetEndpoints() {
		d.secret = endpoint.GetSecret()
	}
	return d, nil
}

// makeKeys creates the missing keys. It checks again first: a key also counts as missing while its tenant has no API
// access, and putting the demo switches that on.
func (d *demo) makeKeys(ctx context.Context, tenants grpc.ClientConnInterface, missing []string) error {
	if len(missing) == 0 {
		return nil
	}
	missing, err := d.missing(ctx, tenants)
	if err != nil {
		return err
	}
	requests := demoKeyRequests()
	for _, name := range missing {
		made, err := tenantsv1.NewTenantOperationsServiceClient(tenants).CreateKey(ctx, requests[name])
		if err != nil {
			return fmt.Errorf("create the demo's keys: %w", err)
		}
		d.Keys[name] = demoKey{ID: made.GetKey().GetId(), Key: made.GetApiKey()}
	}
	return nil
}

// missing returns the keys that are not in demo.json, or that the platform does not know because the folder was used with
// another database.
func (d *demo) missing(ctx context.Context, tenants grpc.ClientConnInterface) ([]string, error) {
	directory := tenantsv1.NewDirectoryServiceClient(tenants)
	var out []string
	for name := range demoKeyRequests() {
		key, remembered := d.Keys[name]
		if !remembered {
			out = append(out, name)
			continue
		}
		_, err := directory.ResolveKey(ctx, &tenantsv1.ResolveKeyRequest{KeyHash: apikey.Hash(key.Key)})
		switch {
		case status.Code(err) == codes.NotFound:
			out = append(out, name)
		case err != nil:
			return nil, fmt.Errorf("check the demo's keys: %w", err)
		}
	}
	return out, nil
}
