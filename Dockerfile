# docker build -t ordhc . && docker run --rm -v "$PWD:/data" ordhc cluster answers.csv -o tree.nwk
FROM python:3.13-slim-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends build-essential curl \
    && rm -rf /var/lib/apt/lists/*
RUN curl --proto =https --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal
ENV PATH=/root/.cargo/bin:$PATH
WORKDIR /source
COPY pyproject.toml README.md LICENSE THIRD-PARTY-LICENSES Cargo.toml Cargo.lock ./
COPY rust rust
COPY python python
COPY wheel wheel
COPY plugins plugins
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels . ./plugins/*

FROM python:3.13-slim-bookworm
COPY --from=build /wheels /wheels
RUN python -m pip install --no-cache-dir /wheels/ordhc-[0-9]*.whl /wheels/ordhc_linkages-*.whl \
        /wheels/ordhc_embedding-*.whl /wheels/ordhc_judge-*.whl /wheels/ordhc_collect-*.whl 'matplotlib>=3.10' \
    && rm -rf /wheels \
    && useradd --create-home --uid 1000 ordhc \
    && install --directory --owner=ordhc /data
USER ordhc
WORKDIR /data
ENTRYPOINT ["ordhc"]
CMD ["--help"]
