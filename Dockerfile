FROM --platform=$BUILDPLATFORM golang:1.26 AS builder
ARG TARGETOS=linux
ARG TARGETARCH
ARG VERSION=dev
WORKDIR /workspace
# The modules change less often than the code, so they get a layer of their own.
COPY go.mod go.sum ./
RUN go mod download
COPY main.go ./
COPY api/ api/
COPY cmd/ cmd/
COPY controllers/ controllers/
COPY internal/ internal/
RUN CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} go build -trimpath -tags grpcnotrace \
      -ldflags "-s -w -X github.com/etcdpilot/etcd-operator/internal/version.Operator=${VERSION}" \
      -o /out/ . ./cmd/member-run && mv /out/etcd-operator /out/manager

FROM gcr.io/distroless/static:nonroot
COPY --from=builder /out/manager /out/member-run /
USER 65532:65532
ENTRYPOINT ["/manager"]
