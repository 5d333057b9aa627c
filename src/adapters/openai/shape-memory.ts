import type { ModelRequest } from '../../ports';
import { combined, fullShape, type ReplyFormat, type RequestShape } from './request-shape';

/** Shapes that worked, per model; a format that only one schema could not have, per model and schema. */
export class ShapeMemory {
  private readonly byModel = new Map<string, RequestShape>();
  private readonly bySchema = new Map<string, ReplyFormat>();

  constructor(private readonly first: ReplyFormat) {}

  of({ model, schema }: ModelRequest): RequestShape {
    const shape = this.byModel.get(model) ?? fullShape(this.first);
    const format = this.bySchema.get(key(model, schema.name));
    return format === undefined ? shape : combined(shape, { ...shape, format });
  }

  learned({ model, schema }: ModelRequest, shape: RequestShape, schemaOnly: boolean): void {
    const known = this.byModel.get(model) ?? fullShape(this.first);
    const schemaKey = key(model, schema.name);
    const ownFormat = schemaOnly || this.bySchema.has(schemaKey);
    if (ownFormat) this.bySchema.set(schemaKey, shape.format);
    this.byModel.set(model, combined(known, ownFormat ? { ...shape, format: known.format } : shape));
  }
}

const key = (model: string, schemaName: string): string => `${model}\n${schemaName}`;
