# One image for every process, with the wheel installed; docker-compose.yml says which command each container runs.
# By digest: the same image for everyone, until somebody changes it here.
FROM python:3.13.15-slim-trixie@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b AS python
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1

FROM python AS build
WORKDIR /src
COPY requirements/build.txt requirements/build.txt
RUN pip install --require-hashes -r requirements/build.txt
COPY . .
RUN python -m hatchling build --target wheel --directory /dist

FROM python AS app
WORKDIR /app
COPY requirements/base.txt /tmp/base.txt
RUN pip install --require-hashes -r /tmp/base.txt && rm /tmp/base.txt
COPY --from=build /dist /dist
# Nothing is written while it runs, so our own code is compiled here once and not by each process that starts.
RUN pip install --compile --no-deps --no-index /dist/*.whl && rm -r /dist
# Mounted folders take their owner from here.
RUN useradd --system --home-dir /app firekind \
 && mkdir -p .data staticfiles \
 && chown firekind .data staticfiles
ENV FIREKIND_HOME=/app
USER firekind

EXPOSE 8000
CMD ["firekind", "web"]
