"""What others are told of: kept in the database until it was taken, and sent by webhook or by mail."""
