# The Muster agent. Its entry point is the agent, so that a pod needs no more than `args: ['--pool=cpu-pool']`.
# From the root of the repository:
#
#   docker build -f deploy/docker/agent.Dockerfile -t muster/agent:0.1.0 .
#
# Sessions run in this image: build your own from it with the programs that they need.
FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
COPY tools ./tools
RUN npm ci --ignore-scripts
COPY scripts ./scripts
COPY src ./src
RUN node scripts/image-root.ts agent /out

FROM node:24-bookworm-slim
ENV PATH=/opt/muster/bin:$PATH
COPY --from=build /out /opt/muster
ENTRYPOINT ["/opt/muster/bin/muster"]
