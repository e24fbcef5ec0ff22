package store_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/caller"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

func TestAMemberWhoIsDeactivatedMeanwhileCannotAct(t *testing.T) {
	t.Parallel()
	s, pool, tenant := setup(t)
	ann := &tenantsv1.TeamMember{
		Id: uuid.NewString(), Name: "n", Email: "ann@example.com", Role: tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, Active: true,
	}
	_, err := s.PutTeamMember(t.Context(), tenant, operator, ann)
	require.NoError(t, err)
	by := store.Authorization{
		Actor: &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: ann.GetId()},
		Needs: caller.Permission{Team: []tenantsv1.TeamRole{tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR}},
	}
	_, err = s.PutBrand(t.Context(), tenant, by, &tenantsv1.Brand{Id: uuid.NewString(), Name: "n", Slug: "before"})
	require.NoError(t, err)

	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `UPDATE tenants SET version = version + 1 WHERE id = $1`, tenant)
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `UPDATE team_members SET active = false WHERE id = $1`, ann.GetId())
	require.NoError(t, err)
	results := make(chan error, 1)
	go func() {
		_, err := s.PutBrand(t.Context(), tenant, by, &tenantsv1.Brand{Id: uuid.NewString(), Name: "n", Slug: "after"})
		results <- err
	}()
	require.Eventually(t, func() bool {
		var waiting bool
		err := pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waiting)
		return err == nil && waiting
	}, waitLimit, pollInterval)
	require.NoError(t, tx.Commit(t.Context()))
	require.ErrorIs(t, <-results, store.ErrNotFound)
	brands, err := s.Brands(t.Context(), tenant, true, []string{})
	require.NoError(t, err)
	require.Len(t, brands, 1)
}
