module github.com/partnergifting/platform/deploy

go 1.26.0

require (
	github.com/grpc-ecosystem/grpc-gateway/v2 v2.32.0
	github.com/partnergifting/platform/gateway v0.0.0
	github.com/partnergifting/platform/pkg v0.0.0
	github.com/partnergifting/platform/proto v0.0.0
	github.com/partnergifting/platform/services/catalog v0.0.0
	github.com/partnergifting/platform/services/events v0.0.0
	github.com/partnergifting/platform/services/orders v0.0.0
	github.com/partnergifting/platform/services/personal-links v0.0.0
	github.com/partnergifting/platform/services/tenants v0.0.0
	github.com/partnergifting/platform/services/webhook v0.0.0
	google.golang.org/genproto/googleapis/api v0.0.0-20261019180522-ce908d29299b
	google.golang.org/genproto/googleapis/rpc v0.0.0-20261019180522-ce908d29299b
	google.golang.org/grpc v1.85.0
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/alicebob/miniredis/v2 v2.40.0 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/fergusstrange/embedded-postgres v1.34.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/pgx/v5 v5.12.0 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/lib/pq v1.10.9 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	github.com/redis/go-redis/v9 v9.23.0 // indirect
	github.com/segmentio/kafka-go v0.4.51 // indirect
	github.com/stretchr/testify v1.12.1 // indirect
	github.com/twmb/franz-go v1.22.2 // indirect
	github.com/twmb/franz-go/pkg/kfake v0.0.0-20260918054303-01f206a7e32c // indirect
	github.com/twmb/franz-go/pkg/kmsg v1.15.0 // indirect
	github.com/xi2/xz v0.0.0-20171230120015-48954b6210f8 // indirect
	github.com/yuin/gopher-lua v1.1.1 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/partnergifting/platform/proto => ../proto

replace github.com/partnergifting/platform/pkg => ../pkg

replace github.com/partnergifting/platform/services/catalog => ../services/catalog

replace github.com/partnergifting/platform/services/orders => ../services/orders

replace github.com/partnergifting/platform/services/personal-links => ../services/personal-links

replace github.com/partnergifting/platform/services/events => ../services/events

replace github.com/partnergifting/platform/services/webhook => ../services/webhook

replace github.com/partnergifting/platform/services/tenants => ../services/tenants

replace github.com/partnergifting/platform/gateway => ../gateway
