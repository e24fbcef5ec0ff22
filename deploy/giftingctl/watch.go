package giftingctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	"github.com/partnergifting/platform/pkg/restjson"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

// The pauses before a stream begins again.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
)

// watch prints a stream of events until the command is interrupted. A stream that ends because its server does goes on at another
// one, after the last event. A first stream that does not begin is an error: most often the context is wrong.
func (c *callCommand) watch(ctx context.Context, conn *connection, req *eventsv1.WatchEventsRequest) error {
	begun := false
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		cursor := req.GetAfter()
		received, err := c.follow(ctx, conn, req, grpc.WaitForReady(begun))
		begun = begun || received
		switch {
		case ctx.Err() != nil:
			return stopped()
		case err == nil:
			return nil
		case status.Code(err) != codes.Unavailable:
			return &refusal{status: status.Convert(err)}
		case !begun: // Without details: so the report names the context.
			return &refusal{status: status.New(codes.Unavailable, err.Error())}
		case req.GetAfter() != cursor:
			pause = firstPause
		}
		c.app.note("The stream has ended, going on after the last event.")
		select {
		case <-ctx.Done():
			return stopped()
		case <-time.After(pause):
		}
	}
}

// follow prints one stream, and remembers in the request how far it came. It reports whether it received anything: a stream begins
// with a cursor.
func (c *callCommand) follow(
	ctx context.Context, conn *connection, req *eventsv1.WatchEventsRequest, opts ...grpc.CallOption,
) (received bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := eventsv1.NewEventOperationsServiceClient(conn.conn).WatchEvents(ctx, req, opts...)
	if err != nil {
		return false, err
	}
	for {
		resp, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return received, nil
		}
		if err != nil {
			return received, err
		}
		received = true
		if event := resp.GetEvent(); event != nil {
			if err := c.printEvent(resp); err != nil {
				return received, err
			}
		}
		if resp.Cursor != nil {
			req.After, req.FromEnd = proto.String(resp.GetCursor()), false
		}
	}
}

// printEvent prints an event in one line.
func (c *callCommand) printEvent(resp *eventsv1.WatchEventsResponse) error {
	if c.app.output == terminal.AsJSON {
		line, err := eventLine(resp)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(c.app.Out, terminal.Visible(line))
		return err
	}
	event := resp.GetEvent()
	return c.app.printRows(nil, [][]string{{
		event.GetOccurredAt().AsTime().Format(time.RFC3339), event.GetType(), event.GetId(), resp.GetCursor(),
	}})
}

// eventLine has the event as it is in the feed, byte for byte.
func eventLine(resp *eventsv1.WatchEventsResponse) (string, error) {
	event, err := restjson.Marshal(resp.GetEvent())
	if err != nil {
		return "", err
	}
	cursor, err := json.Marshal(resp.GetCursor())
	return fmt.Sprintf(`{"cursor":%s,"event":%s}`, cursor, event), err
}
