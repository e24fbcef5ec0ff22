package netguard

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// resolverOf answers queries for IPv4 addresses with the given ones in turn, the
// last one for ever, and has no IPv6 addresses.
func resolverOf(t *testing.T, answers ...netip.Addr) *net.Resolver {
	t.Helper()
	var asked atomic.Int64
	next := func() netip.Addr { return answers[min(int(asked.Add(1)), len(answers))-1] }
	return &net.Resolver{
		PreferGo: true,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			go serveDNS(far, next)
			return near, nil
		},
	}
}

// serveDNS answers on a stream, where each message follows its length.
func serveDNS(conn net.Conn, next func() netip.Addr) {
	defer func() { _ = conn.Close() }()
	for {
		var length uint16
		if binary.Read(conn, binary.BigEndian, &length) != nil {
			return
		}
		raw := make([]byte, length)
		if _, err := io.ReadFull(conn, raw); err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(raw) != nil || len(m.Questions) != 1 {
			return
		}
		answer := dnsmessage.Message{
			Header:    dnsmessage.Header{ID: m.ID, Response: true, Authoritative: true, RecursionAvailable: true},
			Questions: m.Questions,
		}
		if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
			answer.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
				Body:   &dnsmessage.AResource{A: next().As4()},
			}}
		}
		out, err := answer.Pack()
		if err != nil {
			return
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(out))), out...)); err != nil {
			return
		}
	}
}
