{{- define "firekind.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "firekind.labels" -}}
app.kubernetes.io/name: firekind
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "firekind.image" -}}
{{- $repository := required "image.repository is not set" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{ $repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ $repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "firekind.env" -}}
- {name: HOST, value: "0.0.0.0"}
- {name: PORT, value: "8000"}
{{- $_ := required "settings.FIREKIND_BASE_URL is not set" .Values.settings.FIREKIND_BASE_URL }}
{{- if not (or .Values.settings.EVIDENCE_STORAGE_URL .Values.evidence.claim) }}
{{- fail "Set settings.EVIDENCE_STORAGE_URL to object storage, or evidence.claim to a volume that many may write to." }}
{{- end }}
{{- range $name, $value := .Values.settings }}
{{- if ne (toString $value) "" }}
- {name: {{ $name }}, value: {{ toString $value | quote }}}
{{- end }}
{{- end }}
{{- end -}}

{{- define "firekind.closed" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: ["ALL"]}
{{- end -}}

{{- define "firekind.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 999
  runAsGroup: 999
  fsGroup: 999
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
volumes:
  - name: scratch
    emptyDir: {sizeLimit: {{ .Values.scratchSize }}}
  - name: static
    emptyDir: {sizeLimit: 64Mi}
  - name: data
    {{- if .Values.evidence.claim }}
    persistentVolumeClaim: {claimName: {{ .Values.evidence.claim }}}
    {{- else }}
    emptyDir: {sizeLimit: {{ .Values.scratchSize }}}
    {{- end }}
  {{- if .Values.files }}
  - name: files
    configMap: {name: {{ include "firekind.name" . }}-files}
  {{- end }}
{{- end -}}

{{- define "firekind.container" -}}
image: {{ include "firekind.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext: {{- include "firekind.closed" . | nindent 2 }}
envFrom:
  - secretRef: {name: {{ required "secret.name is not set" .Values.secret.name }}}
env: {{- include "firekind.env" . | nindent 2 }}
volumeMounts:
  - {name: scratch, mountPath: /tmp}
  - {name: static, mountPath: /app/staticfiles}
  - {name: data, mountPath: /app/.data}
  {{- if .Values.files }}
  - {name: files, mountPath: /app/files, readOnly: true}
  {{- end }}
{{- end -}}
