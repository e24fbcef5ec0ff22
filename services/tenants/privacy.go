package tenants

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/seal"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	"github.com/partnergifting/platform/services/tenants/internal/privacy"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// openPrivacy builds what erases and exports persons.
func (s *Service) openPrivacy(tenants *store.Store, ring *seal.Ring, backups time.Duration) (c *privacy.Coordinator, err error) {
	c = privacy.New(privacy.Deps{
		Store:  tenants,
		Orders: privacyv1.NewPersonalDataServiceClient(s.peers.to(identity.Orders)),
		Links:  privacyv1.NewPersonalDataServiceClient(s.peers.to(identity.PersonalLinks)),
		Events: []privacyv1.RecordEventsServiceClient{
			privacyv1.NewRecordEventsServiceClient(s.peers.to(identity.Events)), privacyv1.NewRecordEventsServiceClient(s.peers.to(identity.Webhook)),
		},
		Backups: backups, Ring: ring, Log: s.tel.Logger, Now: time.Now,
	})
	s.erasures, err = privacy.Worker(c, s.tel)
	return c, err
}

// to is the connection to a service. Without its address, every call is refused.
func (p peers) to(name identity.Name) grpc.ClientConnInterface {
	if conn, ok := p[name]; ok {
		return conn
	}
	return notConnected{}
}

type notConnected struct{}

func (notConnected) Invoke(context.Context, string, any, any, ...grpc.CallOption) error {
	return problem.Unavailable()
}

func (notConnected) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, problem.Unavailable()
}

// deleteOld deletes what is older than the retention of audits, and the secrets of webhooks that no longer sign.
func deleteOld(ctx context.Context, tenants *store.Store, audits, lag time.Duration) error {
	var failed []error
	for rows, keep := range map[store.Old]time.Duration{
		store.OldKeyAudit: audits + lag, store.OldTenantAudit: audits + lag, store.OldPersonRequests: audits + lag, store.OldSecrets: lag,
	} {
		failed = append(failed, daemon.InBatches(ctx, retentionBatch, func(ctx context.Context, limit int) (int, error) {
			return tenants.Delete(ctx, rows, keep, limit)
		}))
	}
	return errors.Join(failed...)
}
