/**
 * A Helm chart: a Deployment for each queue group. The templates are the same for everyone; what is particular is in
 * `values.yaml`, and the configuration beside it becomes a ConfigMap.
 *
 * 1. Secrets stay in a Secret that exists already; the chart names it and its keys.
 * 2. A pod runs as nobody, with a read-only root, no capabilities and no token of the cluster.
 * 3. Pods are reached on the health port alone, and reach DNS and the ports of the configuration.
 * 4. Where Temporal's worker controller scales, the chart sets no replicas and lets Temporal's account set them.
 */
import { stringify } from 'yaml';
import { AFTER_GRACE_SECONDS, CONFIG_FILE, CONFIG_FOLDER, HEALTH_PORT, type ContainerPlan } from './container-plan';

export interface ChartFile {
  readonly path: string;
  readonly content: string;
}

export function kubernetesChart(plan: ContainerPlan, version: string): readonly ChartFile[] {
  return [
    {
      path: 'Chart.yaml',
      content: stringify({
        apiVersion: 'v2',
        name: 'gate',
        description: 'Workers of GATE',
        type: 'application',
        version,
        appVersion: version,
      }),
    },
    { path: 'values.yaml', content: valuesOf(plan) },
    { path: CONFIG_FILE, content: plan.configuration },
    { path: 'templates/deployment.yaml', content: DEPLOYMENT },
    { path: 'templates/config.yaml', content: CONFIG },
    { path: 'templates/network-policy.yaml', content: NETWORK_POLICY },
    { path: 'templates/scaler.yaml', content: SCALER },
  ];
}

function valuesOf({ image, environment, secrets, groups, graceSeconds, ports }: ContainerPlan): string {
  const values = {
    image,
    environment,
    secrets: { name: 'gate', keys: secrets },
    graceSeconds,
    queueGroups: groups.map((group) => ({
      ...group,
      replicas: 2,
      resources: { requests: { cpu: '250m', memory: '512Mi' }, limits: { memory: '1Gi' } },
    })),
    serviceAccount: { annotations: {} },
    scaledByTemporal: { enabled: false, serviceAccount: 'temporal', namespace: 'temporal' },
    egress: { ports },
  };
  return `# The Secret "${values.secrets.name}" has to exist, with these keys. scaledByTemporal: the worker controller of a self-hosted
# Temporal sets the replicas, also to 0; serviceAccount and namespace are those of its server.
${stringify(values)}`;
}

const LABELS = `app.kubernetes.io/name: gate
    app.kubernetes.io/instance: {{ $.Release.Name }}`;

/** Of a group of queues. */
const POD_NAME = 'printf "%s-%s" $.Release.Name .name | trunc 63 | trimSuffix "-"';

const DEPLOYMENT = `{{- range .Values.queueGroups }}
{{- $name := ${POD_NAME} }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  labels:
    ${LABELS}
spec:
  {{- if not $.Values.scaledByTemporal.enabled }}
  replicas: {{ .replicas }}
  {{- end }}
  selector:
    matchLabels:
      app.kubernetes.io/instance: {{ $.Release.Name }}
      app.kubernetes.io/component: {{ .name }}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: gate
        app.kubernetes.io/instance: {{ $.Release.Name }}
        app.kubernetes.io/component: {{ .name }}
      annotations:
        # A changed configuration starts new pods.
        checksum/config: {{ $.Files.Get "${CONFIG_FILE}" | sha256sum }}
    spec:
      serviceAccountName: {{ $.Release.Name }}
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: {{ add $.Values.graceSeconds ${AFTER_GRACE_SECONDS} }}
      securityContext:
        runAsNonRoot: true
        runAsUser: 1000
        runAsGroup: 1000
        seccompProfile:
          type: RuntimeDefault
      containers:
        - name: worker
          image: {{ $.Values.image | quote }}
          args:
            - worker
            - --serve
            - {{ .serve | quote }}
            - --grace
            - {{ $.Values.graceSeconds | quote }}
            - --health-port
            - "${HEALTH_PORT}"
            - --health-host
            - 0.0.0.0
          env:
            {{- range $key, $value := $.Values.environment }}
            - name: {{ $key }}
              value: {{ $value | quote }}
            {{- end }}
            {{- range $.Values.secrets.keys }}
            - name: {{ . }}
              valueFrom:
                secretKeyRef:
                  name: {{ $.Values.secrets.name }}
                  key: {{ . }}
            {{- end }}
          ports:
            - name: health
              containerPort: ${HEALTH_PORT}
          startupProbe:
            httpGet:
              path: /livez
              port: health
            periodSeconds: 2
            failureThreshold: 60
          livenessProbe:
            httpGet:
              path: /livez
              port: health
            timeoutSeconds: 5
          readinessProbe:
            httpGet:
              path: /readyz
              port: health
            timeoutSeconds: 3
          resources:
            {{- toYaml .resources | nindent 12 }}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities:
              drop: [ALL]
          volumeMounts:
            - name: config
              mountPath: ${CONFIG_FOLDER}
              readOnly: true
            - name: tmp
              mountPath: /tmp
      volumes:
        - name: config
          configMap:
            name: {{ $.Release.Name }}
        - name: tmp
          emptyDir:
            sizeLimit: 1Gi
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  labels:
    ${LABELS}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      app.kubernetes.io/instance: {{ $.Release.Name }}
      app.kubernetes.io/component: {{ .name }}
{{- end }}
`;

const CONFIG = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
  labels:
    ${LABELS}
data:
  ${CONFIG_FILE}: {{ .Files.Get "${CONFIG_FILE}" | quote }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .Release.Name }}
  labels:
    ${LABELS}
  {{- with .Values.serviceAccount.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false
`;

const NETWORK_POLICY = `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ .Release.Name }}
  labels:
    ${LABELS}
spec:
  podSelector:
    matchLabels:
      app.kubernetes.io/name: gate
      app.kubernetes.io/instance: {{ .Release.Name }}
  policyTypes: [Ingress, Egress]
  ingress:
    - ports:
        - port: ${HEALTH_PORT}
          protocol: TCP
  egress:
    - ports:
        - port: 53
          protocol: UDP
        - port: 53
          protocol: TCP
        {{- range .Values.egress.ports }}
        - port: {{ . }}
          protocol: TCP
        {{- end }}
`;

const SCALER = `{{- if .Values.scaledByTemporal.enabled }}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ .Release.Name }}-scaler
  labels:
    ${LABELS}
rules:
  - apiGroups: [apps]
    resources: [deployments]
    resourceNames: &names
      {{- range .Values.queueGroups }}
      - {{ ${POD_NAME} }}
      {{- end }}
    verbs: [get]
  - apiGroups: [apps]
    resources: [deployments/scale]
    resourceNames: *names
    verbs: [get, update]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ .Release.Name }}-scaler
  labels:
    ${LABELS}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ .Release.Name }}-scaler
subjects:
  - kind: ServiceAccount
    name: {{ .Values.scaledByTemporal.serviceAccount }}
    namespace: {{ .Values.scaledByTemporal.namespace }}
{{- end }}
`;
