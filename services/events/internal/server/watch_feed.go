package server

import (
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/postgres"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	"github.com/partnergifting/platform/services/events/internal/notices"
)

// FeedNotices implements FeedNoticesService.
type FeedNotices struct {
	eventsv1.UnimplementedFeedNoticesServiceServer
	hub *notices.Hub
}

// NewFeedNotices makes a server for the gateway.
func NewFeedNotices(hub *notices.Hub) *FeedNotices { return &FeedNotices{hub: hub} }

// WatchFeed streams notices of committed events. Notices that a slow caller has not taken yet are merged.
func (f *FeedNotices) WatchFeed(_ *eventsv1.WatchFeedRequest, stream grpc.ServerStreamingServer[eventsv1.WatchFeedResponse]) error {
	subscription := f.hub.Subscribe("")
	defer subscription.Close()
	if err := stream.Send(&eventsv1.WatchFeedResponse{Missed: true}); err != nil {
		return err
	}
	for {
		select {
		case <-stream.Context().Done():
			return stream.Context().Err()
		case <-subscription.Due():
		}
		found, missed := subscription.Drain()
		if len(found) == 0 && !missed {
			continue
		}
		if err := stream.Send(&eventsv1.WatchFeedResponse{Missed: missed, Notices: postgres.Column(found, feedNotice)}); err != nil {
			return err
		}
	}
}

func feedNotice(n notices.Notice) *eventsv1.FeedNotice {
	return &eventsv1.FeedNotice{TenantId: n.TenantID, BrandId: n.BrandID, Scope: n.Scope, HiddenFromKeyId: n.HiddenFrom}
}
