package rpc

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

// pageOf makes a page of events whose data have a size.
func pageOf(events, size int) *eventsv1.ListEventsResponse {
	page := &eventsv1.ListEventsResponse{}
	for i := range events {
		page.Items = append(page.Items, &eventsv1.Event{Id: fmt.Sprint(i), Type: "order.created", Data: bytes.Repeat([]byte{'x'}, size)})
	}
	return page
}

func TestMessagesOfAllSizesAreThoseOfGRPC(t *testing.T) {
	t.Parallel()
	theirs := encoding.GetCodecV2("proto")
	for _, size := range []int{0, 1, 900, 1 << 10, 5 << 10, 20 << 10, 60 << 10, 1 << 20, 3 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			sent := pageOf(1, size)
			written, err := codec{}.Marshal(sent)
			require.NoError(t, err)
			defer written.Free()
			var received, theirsReceived eventsv1.ListEventsResponse
			require.NoError(t, theirs.Unmarshal(written, &theirsReceived))
			require.True(t, proto.Equal(sent, &theirsReceived))
			// It arrives in frames, whose buffers are used again.
			require.NoError(t, codec{}.Unmarshal(frames(written.Materialize()), &received))
			written, err = codec{}.Marshal(pageOf(1, size/2))
			require.NoError(t, err)
			written.Free()
			require.True(t, proto.Equal(sent, &received))
		})
	}
}

func frames(message []byte) (out mem.BufferSlice) {
	const frame = 16 << 10
	for len(message) > 0 {
		n := min(frame, len(message))
		out, message = append(out, mem.SliceBuffer(message[:n])), message[n:]
	}
	return out
}

func TestOnlyMessagesAreWrittenAndRead(t *testing.T) {
	t.Parallel()
	_, err := codec{}.Marshal("text")
	require.ErrorIs(t, err, errNotMessage)
	require.ErrorIs(t, codec{}.Unmarshal(nil, new(string)), errNotMessage)
	require.Error(t, codec{}.Unmarshal(mem.BufferSlice{mem.SliceBuffer("\xff")}, &eventsv1.Event{}))
}

// BenchmarkPageOverACodec writes and reads a page of 50 events.
func BenchmarkPageOverACodec(b *testing.B) {
	page := pageOf(50, 1100)
	for name, c := range map[string]encoding.CodecV2{"own": codec{}, "gRPC": encoding.GetCodecV2("proto")} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				written, err := c.Marshal(page)
				require.NoError(b, err)
				whole := written.Materialize()
				written.Free()
				require.NoError(b, c.Unmarshal(frames(whole), &eventsv1.ListEventsResponse{}))
			}
		})
	}
}
