# The Muster server and command line. From the root of the repository:
#
#   docker build -f deploy/docker/server.Dockerfile -t muster/server:0.1.0 .
#
# Debian, not Alpine: the server hands its own Node to new machines, and most of them have glibc.
FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
COPY tools ./tools
RUN npm ci --ignore-scripts
COPY scripts ./scripts
COPY src ./src
RUN node scripts/image-root.ts server /out

FROM node:24-bookworm-slim
ENV NODE_ENV=production PATH=/opt/muster/bin:$PATH MUSTER_DATA_DIR=/var/lib/muster
COPY --from=build /out /opt/muster
COPY deploy/docker/server.yaml /etc/muster/config.yaml
RUN mkdir -p /var/lib/muster && chown 1000:1000 /var/lib/muster
# The user `node` of the base image, as a number: Kubernetes can then see that it is not root.
USER 1000:1000
WORKDIR /var/lib/muster
VOLUME /var/lib/muster
EXPOSE 50051 8081
ENTRYPOINT ["/opt/muster/bin/muster"]
CMD ["server"]
