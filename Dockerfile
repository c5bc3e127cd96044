ARG GO_IMAGE=golang:1.26
FROM --platform=$BUILDPLATFORM ${GO_IMAGE} AS builder
ARG TARGETOS=linux
ARG TARGETARCH
ARG VERSION=dev
WORKDIR /workspace
# The modules change less often than the code, so they get a layer of their own.
COPY go.mod go.sum ./
RUN go mod download
# The flags are those of the Makefile.
COPY Makefile ./
COPY hack/*.mk hack/
COPY main.go ./
COPY api/ api/
COPY cmd/ cmd/
COPY controllers/ controllers/
COPY internal/ internal/
RUN GOOS=${TARGETOS} GOARCH=${TARGETARCH} make build BIN=/out STAMP=${VERSION}

# The programs bring along all that they need: time zones, and certificate authorities. make image builds the same.
FROM scratch
ARG VERSION=dev
LABEL org.opencontainers.image.title=etcd-operator \
      org.opencontainers.image.licenses=Apache-2.0 \
      org.opencontainers.image.source=https://github.com/etcdpilot/etcd-operator \
      org.opencontainers.image.version=${VERSION}
COPY --from=builder /out/manager /out/agent /out/member-run /
COPY LICENSE third-party-licenses.txt /licenses/
USER 65532:65532
ENTRYPOINT ["/manager"]
