package server

import (
	"context"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// complete chooses what a claim in the sandbox leaves open, and refuses a choice that is not available now.
func (s *Server) complete(
	ctx context.Context, link *rules.Link, settings *tenants.Settings, choice *linksv1.ClaimLinkRequest,
) error {
	selection, err := s.listGifts(ctx, link, settings)
	if err != nil {
		return err
	}
	if !selection.GetOpen() {
		return problem.New(problem.CampaignNotActive, "The campaign of the link is not active.")
	}
	return rules.CompleteClaim(choice, selection.GetGifts())
}

// announceAuto says in the answer, also in a stored one, that links of a batch are claimed by themselves.
func (s *Server) announceAuto(ctx context.Context, batch *linksv1.CreatePersonalLinksResponse) {
	if !s.sandbox || !slices.ContainsFunc(batch.GetResults(), rules.Auto) {
		return
	}
	// It fails only outside of a gRPC call, as in a test.
	_ = grpc.SetHeader(ctx, metadata.Pairs(caller.SandboxHeader, "auto"))
	s.wakeAuto()
}

// ClaimByItself claims a link of the sandbox with the first gift that can be chosen and a made-up recipient.
func (s *Server) ClaimByItself(ctx context.Context, link *rules.Link) error {
	settings, err := s.tenants.Fresh(ctx, link.TenantID)
	if err != nil {
		return err
	}
	choice := &linksv1.ClaimLinkRequest{}
	if err := s.complete(ctx, link, settings, choice); err != nil {
		return err
	}
	_, err = s.claims.Claim(ctx, link, orderOf(link, choice))
	return err
}
