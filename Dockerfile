FROM node:24-slim AS compiled
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/compile.ts scripts/
COPY migrations migrations
COPY src src
RUN node scripts/compile.ts --without-types && npm prune --omit=dev --ignore-scripts

FROM node:24-slim
# In production the service refuses to start without its required settings.
ENV NODE_ENV=production DATA_DIR=/data
WORKDIR /app
COPY --from=compiled /app/node_modules node_modules
COPY package.json LICENSE start.mjs ./
COPY --from=compiled /app/dist dist
RUN mkdir --mode=700 /data && chown node:node /data
USER node
VOLUME /data
# API, SMTP in production, SMTP in development
EXPOSE 3000 25 2525
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.HTTP_PORT || 3000}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=16", "start.mjs", "start"]
