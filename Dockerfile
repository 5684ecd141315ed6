FROM node:24.21-bookworm-slim

WORKDIR /assay
COPY package.json package-lock.json tsconfig.json ./
# The image has Node already; PostgreSQL stays, for a container without DATABASE_URL.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && \
  rm -rf node_modules/node-bin-* node_modules/node-darwin-* node_modules/node-linux-* node_modules/.bin/node
COPY bin bin
COPY catalog catalog
COPY docs docs
COPY migrations migrations
COPY src src
COPY console console
COPY scripts/build-console.ts scripts/strip-types.ts scripts/
RUN node scripts/build-console.ts && node --disable-warning=ExperimentalWarning scripts/strip-types.ts

RUN mkdir /data && chown node:node /data
USER node
ENV HOST=0.0.0.0 PORT=8080 DATA_DIR=/data NODE_ENV=production
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD node -e "fetch('http://127.0.0.1:' + process.env.PORT + '/ready').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"
CMD ["node", "--import", "./bin/stripped-types.mjs", "src/main.ts"]
