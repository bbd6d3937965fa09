# One image for every process; docker-compose.yml says which command each container runs.
# By digest: the same image for everyone, until somebody changes it here.
FROM python:3.13.15-slim-trixie@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b AS app

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /app

COPY requirements/base.txt requirements/base.txt
RUN pip install --require-hashes -r requirements/base.txt

COPY . .
# Nothing is written while it runs, so our own code is compiled here once and not by each process that starts.
RUN python -m compileall -q . \
 && useradd --system --home-dir /app firekind \
 && mkdir -p .data staticfiles \
 && chown firekind .data staticfiles
USER firekind

EXPOSE 8000
CMD ["python", "-m", "stack", "web"]
